/** Prints the address of a server in the form that the log of the service has, for the benchmark. */
export function announce(server) {
  const { port } = server.address();
  process.stdout.write(`{"address":"http://127.0.0.1:${port}"}\n`);
}
