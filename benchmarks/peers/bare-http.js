// Bare node:http, which does the least possible.
import { createServer } from 'node:http';
import { announce } from './announce.js';
import { authorization } from './token.js';

const plants = new Map();

function respond(response, status, value) {
  const body = JSON.stringify(value);
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(body);
}

function isNewPlant({ id, name, tag }) {
  const tagFits = tag === undefined || typeof tag === 'string';
  return Number.isSafeInteger(id) && typeof name === 'string' && tagFits;
}

function create(response, text) {
  let plant;
  try {
    plant = JSON.parse(text);
  } catch {
    return respond(response, 400, { error: 400, message: 'the body is not JSON' });
  }
  if (!isNewPlant(plant)) return respond(response, 400, { error: 400, message: 'not a plant' });
  const { id, name, tag } = plant;
  if (plants.has(id)) return respond(response, 400, { error: 400, message: 'the id is taken' });
  plants.set(id, { name, tag });
  respond(response, 200, { name, tag });
}

const server = createServer((request, response) => {
  if (request.method !== 'POST' || request.url !== '/plants') {
    return respond(response, 404, { error: 404, message: 'no such path' });
  }
  if (request.headers.authorization !== authorization) {
    return respond(response, 401, { error: 401, message: 'no valid token' });
  }
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => create(response, Buffer.concat(chunks).toString()));
});
server.listen(0, '127.0.0.1', () => announce(server));
