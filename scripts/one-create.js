// `node scripts/one-create.js`: prints the files and functions of the packages that one create runs, from the request to
// the response. It uses the database that the environment chooses, otherwise a MongoDB of its own. Build first.
import { createHash, randomBytes } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { request } from 'node:http';
import { Session } from 'node:inspector/promises';
import { PassThrough } from 'node:stream';

/** A check of the database may run during one of them; the smallest number has none. */
const CREATES = 9;
const SOURCE = /\/packages\/([^/]+)\/dist\/src\/(.+)$/;

const TOKEN = randomBytes(16).toString('hex');

const { MONGODB_URI, POSTGRESQL_URI, STORAGE } = process.env;
const isChosen = [MONGODB_URI, POSTGRESQL_URI, STORAGE].some((it) => it !== undefined);
const own = isChosen ? undefined : await startMongodb();
const service = await startService(own && { MONGODB_URI: own.uri });
const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

let id = BigInt(Date.now()) * 1_000n;
const creates = [];
for (let number = -CREATES; number < CREATES; number += 1) {
  await session.post('Profiler.takePreciseCoverage');
  await create(id);
  id += 1n;
  if (number >= 0) creates.push(called(await session.post('Profiler.takePreciseCoverage')));
}
print(creates.sort((a, b) => count(a) - count(b))[0]);
service.emit('SIGTERM', 'SIGTERM');
await service.ended;
await own?.stop();

async function startMongodb() {
  const { ReplicaSet } = await import('@plant-store/test-servers/mongod');
  return ReplicaSet.start({ members: 1 });
}

/** Starts the service in this process. Resolves when it has stored a plant. */
async function startService(database) {
  const { main } = await import('../packages/app/dist/src/main.js');
  const ACCESS_TOKEN_SHA256 = createHash('sha256').update(TOKEN).digest('hex');
  const env = { ...process.env, ...database, PORT: '0', LOG_FORMAT: 'json', ACCESS_TOKEN_SHA256 };
  const stdout = new PassThrough({ encoding: 'utf8' });
  const own = { env, stdin: process.stdin, stdout, stderr: process.stderr, exit: process.exit };
  const service = Object.assign(new EventEmitter(), own);
  service.ended = main(['serve'], service);
  for await (const line of stdout) {
    const { address } = JSON.parse(line.split('\n').find((it) => it.includes('"address"')) ?? '{}');
    if (address) return Object.assign(service, { address });
  }
  throw new Error('the service did not start');
}

function create(id) {
  return new Promise((resolve, reject) => {
    const body = `{"id":${id},"name":"Monstera","tag":"tropical"}`;
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
    const sending = request(
      `${service.address}/plants`,
      { method: 'POST', headers },
      (response) => {
        response.resume().on('end', () => {
          if (response.statusCode === 200) resolve();
          else reject(new Error(`the create ended with ${response.statusCode}`));
        });
      },
    );
    sending.on('error', reject).end(body);
  });
}

/** Returns the functions of the packages that were called, by file. */
function called({ result }) {
  const files = new Map();
  for (const { url, functions } of result) {
    const [, name, file] = SOURCE.exec(url) ?? [];
    const run = functions.filter(({ ranges: [{ count }] }) => count > 0);
    if (name && run.length > 0) files.set(`${name}/${file.replace(/js$/, 'ts')}`, run);
  }
  return files;
}

function count(files) {
  return [...files.values()].flat().length;
}

function print(files) {
  for (const [file, functions] of [...files].sort()) {
    const names = functions.map(({ functionName }) => functionName || '(anonymous)');
    process.stdout.write(`${file}: ${names.join(', ')}\n`);
  }
  process.stdout.write(`${files.size} files, ${count(files)} functions\n`);
}
