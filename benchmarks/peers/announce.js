/** Prints the address of a server in the format of the service's log, in which the benchmark finds it. */
export function announce(server) {
  const { port } = server.address();
  process.stdout.write(`{"url":"http://127.0.0.1:${port}"}\n`);
}
