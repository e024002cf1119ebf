import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { fail, until } from '@plant-store/contract-suite';
import { freePort } from '@plant-store/faulty-network';
import { findProgram } from '@plant-store/programs';
import { watch } from '@plant-store/service-process';
import { withReal } from '../../../documents/support/snippet.js';
import { read, root, temporaryFolder } from '../../../root.js';

/** Returns the values of variables in a script of `.ci`: the versions of what it makes. */
function versionsIn(script: string, ...names: readonly string[]): string {
  const text = read(`.ci/${script}`);
  return names.map((name) => new RegExp(`^${name}=(\\S+)$`, 'm').exec(text)?.[1]).join('-');
}

/** Where the scripts of `.ci` put the programs that are not packages of Debian. */
const FETCHED: Readonly<Record<string, string>> = {
  caddy: join(root, '.cache/caddy', versionsIn('caddy', 'caddy', 'ratelimit'), 'caddy'),
  envoy: join(root, '.cache/envoy', versionsIn('envoy', 'envoy'), 'envoy'),
  traefik: join(root, '.cache/traefik', versionsIn('traefik', 'traefik'), 'traefik'),
};

/** The folder, the files and the addresses of a proxy that is started. */
interface Place {
  /** An empty folder of its own. */
  readonly folder: string;
  readonly port: string;
  /** A certificate and its private key in one file. */
  readonly certificate: string;
}

interface Kind {
  readonly file: string;
  /** The texts of the configuration to replace: those for the port and the certificate. */
  readonly replaced: (place: Place) => Readonly<Record<string, string>>;
  /** How the configuration has the name and the port of an instance; by default with a colon between them. */
  readonly host?: (parts: readonly string[]) => string;
  /** Writes the configuration into the folder. Returns the command line. */
  readonly command: (place: Place, configuration: string) => readonly string[];
  /** The parts of the configuration to remove so that it does not check the health of the instances. */
  readonly healthCheck?: RegExp;
  /** The statuses of the proxy's own responses that stand for errors of the service, if it cannot have their form. */
  readonly ownStatuses?: Readonly<Record<OwnError, number>>;
}

/** The errors of the service with which a proxy responds itself. */
export type OwnError = 5031 | 5032;

/** The name of a proxy's program and of its package in Debian. */
export type ProxyName = 'nginx' | 'haproxy' | 'caddy' | 'envoy' | 'traefik';

/** The proxies that have a configuration in `deploy/proxies`. */
export const kinds: Readonly<Record<ProxyName, Kind>> = {
  nginx: {
    file: 'nginx.conf',
    replaced: ({ port, certificate }) => ({
      'listen 443': `listen 127.0.0.1:${port}`,
      '/etc/ssl/plant-store.pem': certificate,
    }),
    command: ({ folder }, configuration) => {
      const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
      const main = [
        ...(process.getuid?.() === 0 ? ['user root;'] : []),
        ...['daemon off;', 'pid nginx.pid;', 'error_log stderr warn;', 'events {}', 'http {'],
        'access_log off;',
        ...temporary.map((name) => `${name}_temp_path ${name};`),
        ...[configuration, '}'],
      ];
      writeFileSync(join(folder, 'nginx.conf'), main.join('\n'));
      return ['-p', folder, '-c', 'nginx.conf', '-e', 'stderr'];
    },
  },
  haproxy: {
    file: 'haproxy.cfg',
    replaced: ({ port, certificate }) => ({
      'bind :443': `bind 127.0.0.1:${port}`,
      '/etc/haproxy/plant-store.pem': certificate,
      // The names of abstract sockets are global on a machine.
      'abns@plant_store': `abns@plant_store_${port}`,
    }),
    command: ({ folder }, configuration) => {
      const path = join(folder, 'haproxy.cfg');
      writeFileSync(path, configuration);
      return ['-db', '-f', path];
    },
    healthCheck: /(?<=:3000) check$/gm,
  },
  caddy: {
    file: 'Caddyfile',
    replaced: ({ port, certificate }) => ({
      '\nplants.example.com {': `\nhttps://127.0.0.1:${port} {`,
      // Otherwise, two instances would use the same port for their administration.
      '\tauto_https': '\tadmin off\n\tauto_https',
      '/etc/caddy/plant-store.pem': certificate,
    }),
    command: ({ folder }, configuration) => {
      const path = join(folder, 'Caddyfile');
      writeFileSync(path, configuration);
      return ['run', '--config', path, '--adapter', 'caddyfile'];
    },
    healthCheck: /^\t+health_.*\n/gm,
  },
  envoy: {
    file: 'envoy.yaml',
    replaced: ({ port, certificate }) => ({
      'address: 0.0.0.0, port_value: 443': `address: 127.0.0.1, port_value: ${port}`,
      '/etc/envoy/plant-store.pem': certificate,
    }),
    host: ([name, port]) => `address: ${name}, port_value: ${port} }`,
    command: ({ folder }, configuration) => {
      const path = join(folder, 'envoy.yaml');
      writeFileSync(path, configuration);
      // Otherwise, several processes would share a socket.
      return ['-c', path, '--disable-hot-restart', '--concurrency', '2', '-l', 'warn'];
    },
    healthCheck: /^ {6}health_checks:\n(?: {8}.*\n)+/gm,
  },
  traefik: {
    file: 'traefik.yaml',
    replaced: ({ folder, port, certificate }) => ({
      "':443'": `127.0.0.1:${port}`,
      '/etc/traefik/traefik.yaml': join(folder, 'traefik.yaml'),
      '/etc/traefik/plant-store.pem': certificate,
    }),
    command: ({ folder }, configuration) => {
      const path = join(folder, 'traefik.yaml');
      writeFileSync(path, configuration);
      return [`--configFile=${path}`];
    },
    // A service without a health check cannot fail over.
    healthCheck: /(?<=service: ready)-or-all$|^ {8}healthCheck:\n(?: {10}.*\n)+/gm,
    ownStatuses: { 5031: 502, 5032: 429 },
  },
};

export const proxyNames = Object.keys(kinds) as ProxyName[];

/** Returns the path of the program: where a script of `.ci` has put it, or where it is installed. */
export function findProxy(name: ProxyName): string | undefined {
  const path = FETCHED[name];
  if (path === undefined) return findProgram(name, ['/usr/sbin']);
  return existsSync(path) ? path : undefined;
}

/** A proxy with the configuration of `deploy/proxies`, on loopback. */
export interface RunningProxy {
  readonly origin: string;
  stop(): Promise<void>;
}

/**
 * Starts a proxy in front of these instances. Resolves when it passes on requests.
 *
 * @param instances Host and port of each.
 * @param checksHealth Whether it may check the health of the instances, as far as it does.
 */
export async function startProxy(
  name: ProxyName,
  instances: readonly [string, string],
  certificate: string,
  checksHealth = true,
): Promise<RunningProxy> {
  const folder = temporaryFolder();
  const port = await freePort();
  const origin = `https://127.0.0.1:${port}`;
  const place = { folder, certificate, port: `${port}` };
  const command = commandOf(name, place, instances, checksHealth);
  const child = spawn(findProxy(name) ?? name, command, {
    env: { PATH: process.env.PATH, HOME: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { stdout, stderr, ended } = watch(child);
  const printed = () => `${name} passes on nothing: ${stdout()}${stderr()}`;
  const passes = () => (child.exitCode === null ? passesOn(origin) : fail(printed()));
  await until(passes, printed, 60_000);
  return {
    origin,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

function commandOf(
  name: ProxyName,
  place: Place,
  [one, two]: readonly [string, string],
  checksHealth: boolean,
): readonly string[] {
  const { file, healthCheck, replaced, command, host = (it) => it.join(':') } = kinds[name];
  const text = read(`deploy/proxies/${file}`);
  const checked = checksHealth || healthCheck === undefined ? text : text.replace(healthCheck, '');
  if (!checksHealth && healthCheck !== undefined && checked === text)
    throw new Error(`${file} has no health check`);
  const hosts = Object.fromEntries(
    [one, two].map((real, at) => [host([`plant-store-${at + 1}`, '3000']), host(real.split(':'))]),
  );
  return command(place, withReal(checked, { ...replaced(place), ...hosts }));
}

/** Whether the proxy passes on requests. Traefik listens before it has its routes: until then it responds with a 404. */
async function passesOn(origin: string): Promise<boolean> {
  const sent = request(`${origin}/readyz`, { agent: false, rejectUnauthorized: false }).end();
  const response = once(sent, 'response').then(([{ statusCode }]) => statusCode !== 404);
  return response.catch(() => false).finally(() => sent.destroy());
}
