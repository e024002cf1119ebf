/** Returns the URL of a server for clients on this machine: on loopback when it listens on every address. */
export function urlOf(host: string, port: number): string {
  return `http://${reachable(host)}:${port}`;
}

function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
