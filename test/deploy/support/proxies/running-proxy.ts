import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram, freePort } from '@plant-store/programs';
import { root } from '../../../root.js';
import { until } from './until.js';

const CADDY = join(root, '.cache/caddy');
const script = readFileSync(join(root, '.ci/caddy'), 'utf8');
/** The versions of Caddy and of its module that `.ci/caddy` builds. */
const TESTED_CADDY = ['caddy', 'ratelimit']
  .map((name) => new RegExp(`^${name}=(v\\S+)$`, 'm').exec(script)?.[1])
  .join('-');
const CONFIGURATIONS = join(root, 'deploy/proxies');

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
  /** Writes the configuration into the folder. Returns the command line. */
  readonly command: (place: Place, configuration: string) => readonly string[];
  /** The parts of the configuration to remove so that it does not check the health of the instances. */
  readonly healthCheck?: RegExp;
  /** The line that it prints when an instance is not ready, with the name of the instance. */
  readonly notReady?: RegExp;
}

/** The proxies that have a configuration in `deploy/proxies`, by the names of their programs. */
export const kinds = {
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
        'daemon off;',
        'pid nginx.pid;',
        'error_log stderr warn;',
        'events {}',
        'http {',
        'access_log off;',
        ...temporary.map((name) => `${name}_temp_path ${name};`),
        configuration,
        '}',
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
    notReady: /Server plant_store\/(\w+) is DOWN/g,
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
    notReady: /health_checker\.active".*?"host":"([^"]+)"/g,
  },
} satisfies Record<string, Kind>;

/** The name of a proxy's program and of its package in Debian. */
export type ProxyName = keyof typeof kinds;

/** All proxies, by the names of their programs. */
export const proxyNames = Object.keys(kinds) as ProxyName[];

/** Returns whether the proxy requests `/readyz` of its instances. */
export function asksReadyz(name: ProxyName): boolean {
  return 'notReady' in kinds[name];
}

/** Returns the path of the program: of Caddy where `.ci/caddy` builds it, of the others where they are installed. */
export function findProxy(name: ProxyName): string | undefined {
  if (name !== 'caddy') return findProgram(name, ['/usr/sbin']);
  const path = join(CADDY, TESTED_CADDY, name);
  return existsSync(path) ? path : undefined;
}

/** A proxy with the configuration of `deploy/proxies`, on loopback. */
export class RunningProxy {
  readonly name: ProxyName;
  readonly origin: string;
  readonly #folder: string;
  readonly #child: ChildProcess;
  #printed = '';

  private constructor(name: ProxyName, port: string, folder: string, child: ChildProcess) {
    this.name = name;
    this.origin = `https://127.0.0.1:${port}`;
    this.#folder = folder;
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text) => {
        this.#printed += text;
      });
    }
  }

  /**
   * Starts a proxy in front of these instances. Resolves when it listens.
   *
   * @param instances Host and port of each.
   * @param checksHealth Whether it may check the health of the instances, as far as it does.
   */
  static async start(
    name: ProxyName,
    instances: readonly [string, string],
    certificate: string,
    checksHealth = true,
  ): Promise<RunningProxy> {
    const folder = mkdtempSync(join(tmpdir(), `plant-store-${name}-`));
    const place = { folder, certificate, port: `${await freePort()}` };
    const child = spawn(findProxy(name) ?? name, commandOf(name, place, instances, checksHealth), {
      env: { PATH: process.env.PATH, HOME: folder },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const proxy = new RunningProxy(name, place.port, folder, child);
    await proxy.#listening(Number(place.port));
    return proxy;
  }

  /** The instances that it has found not ready since its start; `undefined` when it does not check. */
  get foundNotReady(): ReadonlySet<string> | undefined {
    const { notReady }: Kind = kinds[this.name];
    return notReady && new Set([...this.#printed.matchAll(notReady)].map(([, it = '']) => it));
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const ended = once(this.#child, 'exit');
      this.#child.kill('SIGTERM');
      await ended;
    }
    rmSync(this.#folder, { recursive: true });
  }

  async #listening(port: number): Promise<void> {
    await until(() => {
      if (this.#child.exitCode !== null) throw new Error(`${this.name} ended: ${this.#printed}`);
      return accepts(port);
    });
  }
}

function commandOf(
  name: ProxyName,
  place: Place,
  [one, two]: readonly [string, string],
  checksHealth: boolean,
): readonly string[] {
  const kind: Kind = kinds[name];
  const replaced = {
    ...kind.replaced(place),
    'plant-store-1:3000': one,
    'plant-store-2:3000': two,
  };
  let text = readFileSync(join(CONFIGURATIONS, kind.file), 'utf8');
  if (!checksHealth && kind.healthCheck !== undefined) {
    const without = text.replace(kind.healthCheck, '');
    if (without === text) throw new Error(`${kind.file} has no health check`);
    text = without;
  }
  for (const [from, to] of Object.entries(replaced)) {
    if (!text.includes(from)) throw new Error(`${kind.file} does not say ${from}`);
    text = text.replaceAll(from, to);
  }
  return kind.command(place, text);
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
