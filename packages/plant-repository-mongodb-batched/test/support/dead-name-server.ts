/**
 * Runs as root in a network and a mount namespace of its own, where the first name server never responds, and the second
 * one knows every name as 127.0.0.1. Opens a store on a server that is restarted once, and prints the problems.
 */
import { execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mongoPlantRepository } from '@plant-store/plant-repository-mongodb-batched';
import { MongodServer } from '@plant-store/test-servers/mongod';
import { plant } from './plant.js';
import { StoreEvents } from './store-events.js';

const TYPE_A = 1;

/** Returns the response to a query: the address 127.0.0.1, or none. Source: RFC 1035, section 4. */
function responseTo(query: Buffer): Buffer {
  const questionEnd = query.indexOf(0, 12) + 5;
  const isFound = query.readUInt16BE(questionEnd - 4) === TYPE_A;
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(0x81_80, 2);
  header.set([0, 1, 0, isFound ? 1 : 0, 0, 0, 0, 0], 4);
  const address = Buffer.from('c00c00010001000000000004' + '7f000001', 'hex');
  return Buffer.concat([header, query.subarray(12, questionEnd), ...(isFound ? [address] : [])]);
}

async function nameServer(address: string, responds: boolean): Promise<void> {
  const socket = createSocket('udp4').bind(53, address);
  await once(socket, 'listening');
  socket.on('message', (query, { port, address }) => {
    if (responds) socket.send(responseTo(query), port, address);
  });
}

execFileSync('ip', ['link', 'set', 'lo', 'up']);
const folder = mkdtempSync(join(tmpdir(), 'plant-store-names-'));
const resolvConf = join(folder, 'resolv.conf');
writeFileSync(resolvConf, 'nameserver 127.0.0.2\nnameserver 127.0.0.3\n');
execFileSync('mount', ['--bind', resolvConf, '/etc/resolv.conf']);
// The mounted file stays.
rmSync(folder, { recursive: true });
await nameServer('127.0.0.2', false);
await nameServer('127.0.0.3', true);

const server = await MongodServer.start();
const uri = `mongodb://db.plants.example:${server.port}/?directConnection=true`;
const events = new StoreEvents();
const plants = mongoPlantRepository({ uri, observer: events.observer });
await plants.add(plant(1n), 30_000);
await server.kill();
await server.restart();
await plants.add(plant(2n), 30_000);
const problems = events.of('store unreachable').map(({ error }) => (error.cause as Error).message);
process.stdout.write(JSON.stringify(problems));
process.exit();
