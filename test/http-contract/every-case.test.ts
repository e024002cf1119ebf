// Mocha runs each file in a process of its own, so this file imports all cases, to check their responses with Prism.
import './cases/cors.js';
import './cases/credentials.js';
import './cases/http-syntax.js';
import './cases/json.js';
import './cases/limits.js';
import './cases/media-type.js';
import './cases/new-plant.js';
import './cases/order-of-checks.js';
import './cases/request-id.js';
import './cases/routing.js';
import { expect } from 'chai';
import { suite } from './support/cases.js';
import { RawConnection, type ReceivedResponse } from './support/raw-connection.js';
import { create } from './support/requests.js';
import { startService, stopSharedServices, useSharedService } from './support/service.js';
import { type Validated, ValidatingProxy } from './support/validating-proxy.js';

const VARYING = new Set(['connection', 'content-length', 'date', 'keep-alive', 'x-request-id']);

after(stopSharedServices);

describe('Prism as a validating proxy', function () {
  this.timeout(60_000);

  const service = useSharedService();
  let proxy: ValidatingProxy;

  before(async () => {
    proxy = await ValidatingProxy.start(`http://127.0.0.1:${service.port}/openapi.json`);
  });

  after(() => proxy?.stop());

  it('accepts every response of this suite as one that the description lists', async () => {
    await respondToTheRest();
    const responses = new Map<string, ReceivedResponse>();
    for (const { response } of described())
      if (response) responses.set(contentOf(response), response);
    const statuses = new Set([...responses.values()].map(({ status }) => status));
    expect([...statuses]).to.include.members([200, 400, 401, 404, 405, 431]);
    for (const response of responses.values()) expectPassed(response, await proxy.pass(response));
  });

  describe('finds', () => {
    const altered: [
      title: string,
      change: (good: ReceivedResponse) => Partial<ReceivedResponse>,
      found: RegExp,
    ][] = [
      ['a status that is not listed', () => ({ status: 418 }), /"response".*status code/],
      ['a member of another type', () => body('{"name":1}'), /name must be string/],
      ['a missing member', () => body('{}'), /required property 'name'/],
      ['a body that is not an error', () => ({ status: 400 }), /required property 'error'/],
      ['no content type', (good) => without(good, 'content-type'), /media type/],
      ['a missing header', (good) => without(good, 'x-request-id'), /x-request-id/],
      ['a body that is not JSON', () => body('{'), /^null$/],
    ];
    for (const [title, change, found] of altered) {
      it(title, async () => {
        const good = await responseTo(service.port, create());
        const bad = { ...good, ...change(good) };
        const validated = await proxy.pass(bad);
        expect(() => expectPassed(bad, validated)).to.throw();
        expect(`${validated.violations}`).to.match(found);
      });
    }
  });
});

/** The cases of the operation whose responses have a body: no health checks and no pages. */
function described() {
  return suite.filter(({ expected }) => !expected.otherContent && !expected.toHead);
}

function settingsOf({ settings }: { readonly settings: Record<string, string> }): string {
  return JSON.stringify(settings);
}

/** Sends the cases whose tests were not run. */
async function respondToTheRest(): Promise<void> {
  const rest = described().filter(({ response }) => response === undefined);
  for (const settings of new Set(rest.map(settingsOf))) {
    const service = await startService(JSON.parse(settings));
    try {
      for (const one of rest) {
        if (settingsOf(one) === settings) one.response = await responseTo(service.port, one.bytes);
      }
    } finally {
      await service.stop();
    }
  }
}

async function responseTo(port: number, bytes: Uint8Array): Promise<ReceivedResponse> {
  const connection = await RawConnection.open(port);
  connection.send(bytes);
  return connection.response().finally(() => connection.destroy());
}

/** What the description can say about a response: no value that differs between requests, and no text. */
function contentOf({ status, fields, body }: ReceivedResponse): string {
  const lasting = fields.filter(([name]) => !VARYING.has(name));
  const content = JSON.parse(body.toString());
  return JSON.stringify([status, lasting, Object.keys(content), content.error]);
}

function expectPassed(response: ReceivedResponse, { status, body, violations }: Validated): void {
  expect(violations, `${response.head}\n\n${response.body}`).to.equal(null);
  expect([status, body]).to.deep.equal([response.status, response.body.toString()]);
}

function body(text: string): Partial<ReceivedResponse> {
  return { body: Buffer.from(text) };
}

function without({ fields }: ReceivedResponse, left: string): Partial<ReceivedResponse> {
  return { fields: fields.filter(([name]) => name !== left) };
}
