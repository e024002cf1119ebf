/** Reports to the benchmark where a server listens, in the words of the service's own log. */
export function announce(server) {
  const { port } = server.address();
  process.stdout.write(`{"address":"http://127.0.0.1:${port}"}\n`);
}
