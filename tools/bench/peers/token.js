/** What a request must carry. */
export const authorization = `Bearer ${process.env.BENCH_TOKEN}`;
