// Usage: node calls.js <address> <token>. Prints the responses to the typed client. Does not save a body before it is sent.
import { stringify } from 'lossless-json';
import createClient from 'openapi-fetch';
import type { components, paths } from './generated/schema.js';

const [baseUrl = '', token = ''] = process.argv.slice(2);

const client = createClient<paths>({
  baseUrl,
  headers: { Authorization: `Bearer ${token}` },
  // JSON.stringify throws for a bigint; lossless-json writes its digits.
  bodySerializer: (body) => stringify(body) ?? '',
});

const body = { id: 9007199254740993n, name: 'Monstera deliciosa', tag: 'tropical' };
const good = await client.POST('/plants', { body });
const created: { name?: string; tag?: string } = { ...good.data };
const neighbour = await client.POST('/plants', { body: { ...body, id: body.id - 1n } });
const bad = await client.POST('/plants', { body });
const failure: { error?: number; message?: string } = { ...bad.error };

// @ts-expect-error: a plant has a name
const nameless: components['schemas']['NewPlant'] = { id: 1n };
void nameless;

const responses = {
  good: { status: good.response.status, ...created },
  neighbour: { status: neighbour.response.status },
  bad: { status: bad.response.status, ...failure },
};
process.stdout.write(JSON.stringify(responses));
