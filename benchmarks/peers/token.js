/** The `Authorization` header that requests must have. */
export const authorization = `Bearer ${process.env.BENCH_TOKEN}`;
