import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fail, until } from '@plant-store/contract-suite';
import { certificates } from '@plant-store/test-servers/certificates';
import { freePort } from '@plant-store/test-servers/loopback';
import { findProgram } from '@plant-store/test-servers/programs';
import { type Running, watch } from '@plant-store/test-servers/service-process';
import { withReal } from '../../../../test/documents/support/snippet.js';
import { read, root, temporaryFolder } from '../../../../test/support/root.js';
import { http1Client, type Target } from './clients.js';

/** Where each configuration has the certificate, and its private key. */
const CERTIFICATE = /\/etc\/\w+\/plant-store\.pem/g;

interface Kind {
  readonly file: string;
  /** The variables in `.ci/programs` with the versions of what it is made of, unless it is a package of Debian. */
  readonly versions?: readonly string[];
  /** The texts of the configuration to replace: those for the port, and others that must differ between two instances. */
  readonly replaced: (port: number) => Readonly<Record<string, string>>;
  /** Returns the whole configuration, of which the file is a part. */
  readonly whole?: (part: string) => string;
  /** The arguments for the configuration at this path, in a folder of its own. */
  readonly args: (path: string) => readonly string[];
  /** The parts of the configuration to remove so that it does not check the health of the instances. */
  readonly healthCheck?: RegExp;
}

/** The name of a proxy's program and of its package in Debian. */
export type ProxyName = 'nginx' | 'haproxy' | 'caddy';

/** The proxies that have a configuration in `deploy/proxies`. */
export const kinds: Readonly<Record<ProxyName, Kind>> = {
  nginx: {
    file: 'nginx.conf',
    replaced: (port) => ({ 'listen 443': `listen 127.0.0.1:${port}` }),
    whole: (part) => `
      ${process.getuid?.() === 0 ? 'user root;' : ''} daemon off; pid nginx.pid; error_log stderr warn;
      events {}
      http {
        access_log off; client_body_temp_path client_body; proxy_temp_path proxy;
        fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
        ${part}
      }`,
    args: (path) => ['-p', dirname(path), '-c', path, '-e', 'stderr'],
  },
  haproxy: {
    file: 'haproxy.cfg',
    replaced: (port) => ({
      'bind :443': `bind 127.0.0.1:${port}`,
      // The names of abstract sockets are global on a machine.
      'abns@plant_store': `abns@plant_store_${port}`,
    }),
    args: (path) => ['-db', '-f', path],
    healthCheck: /(?<=:3000) check$/gm,
  },
  caddy: {
    file: 'Caddyfile',
    versions: ['caddy', 'ratelimit'],
    replaced: (port) => ({
      '\nplants.example.com {': `\nhttps://127.0.0.1:${port} {`,
      // Otherwise, two instances would use the same port for their administration.
      '\tauto_https': '\tadmin off\n\tauto_https',
    }),
    args: (path) => ['run', '--config', path, '--adapter', 'caddyfile'],
    healthCheck: /^\t+health_.*\n/gm,
  },
};

export const proxyNames = Object.keys(kinds) as ProxyName[];

/** Returns the path of the program: where `.ci/programs` has put it, or where it is installed. */
export function findProxy(name: ProxyName): string | undefined {
  const { versions } = kinds[name];
  if (versions === undefined) return findProgram(name, ['/usr/sbin']);
  const script = read('.ci/programs');
  const made = versions.map((it) => new RegExp(`^${it}=(\\S+)$`, 'm').exec(script)?.[1]).join('-');
  const path = join(root, '.cache', name, made, name);
  return existsSync(path) ? path : undefined;
}

const running: Running[] = [];

/**
 * Starts a proxy of `deploy/proxies`, on loopback, in front of these instances. Resolves when it passes on requests.
 *
 * @param instances Host and port of each.
 * @param health Whether it checks the health of the instances, if its configuration says so.
 */
export async function startProxy(
  name: ProxyName,
  instances: readonly [string, string],
  health: 'as configured' | 'without health check' = 'as configured',
): Promise<Target> {
  const port = await freePort();
  const ca = readFileSync(certificates.ca, 'utf8');
  const target = { origin: `https://127.0.0.1:${port}`, ca };
  const { file, args, replaced, whole = String, healthCheck } = kinds[name];
  const path = join(temporaryFolder(), file);
  // The path of the checkout may have a space.
  const certificate = join(dirname(path), 'certificate.pem');
  copyFileSync(certificates.server, certificate);
  const hosts = instances.map((real, at) => [`plant-store-${at + 1}:3000`, real]);
  const text = read(`deploy/proxies/${file}`).replaceAll(CERTIFICATE, certificate);
  const isRemoved = health === 'without health check';
  const used = isRemoved ? text.replace(healthCheck ?? '', '') : text;
  if (used === text && isRemoved && healthCheck) throw new Error(`${file} has no health check`);
  writeFileSync(path, whole(withReal(used, { ...replaced(port), ...Object.fromEntries(hosts) })));
  const child = spawn(findProxy(name) ?? name, args(path), {
    env: { PATH: process.env.PATH, HOME: dirname(path) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const started = watch(child);
  running.push(started);
  const { stdout, stderr } = started;
  const printed = () => `${name} passes on nothing: ${stdout()}${stderr()}`;
  const client = http1Client(target, false);
  const passes = () =>
    client.send({ path: '/readyz', body: '' }).then(
      () => true,
      () => child.exitCode !== null && fail(printed()),
    );
  await until(passes, printed, 60_000);
  return target;
}

/** Stops all proxies. Resolves when they have ended. */
export async function stopProxies(): Promise<void> {
  for (const { child } of running) child.kill('SIGTERM');
  await Promise.all(running.splice(0).map(({ ended }) => ended));
}
