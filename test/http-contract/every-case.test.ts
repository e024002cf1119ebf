// Mocha gives each file to a process of its own, and Prism is to judge the answers to all cases.
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
import type { Service } from '@plant-store/service-process';
import { expect } from 'chai';
import { suite } from './cases.js';
import { type Answer, RawConnection } from './raw-connection.js';
import { create } from './requests.js';
import { startService } from './service.js';
import { type Validated, ValidatingProxy } from './validating-proxy.js';

describe('Through Prism as a validating proxy', function () {
  this.timeout(60_000);

  let service: Service;
  let proxy: ValidatingProxy;

  before(async () => {
    service = await startService();
    proxy = await ValidatingProxy.start(`${service.address}/openapi.json`);
  });

  after(async () => {
    await proxy?.stop();
    await service?.stop();
  });

  it('every answer to a case of this suite is one that the description lists', async () => {
    await answerTheRest();
    const answers = new Map<string, Answer>();
    for (const { answer } of described()) if (answer) answers.set(contentOf(answer), answer);
    const statuses = new Set([...answers.values()].map(({ status }) => status));
    expect([...statuses]).to.include.members([200, 400, 401, 404, 405, 431]);
    for (const answer of answers.values()) expectPassed(answer, await proxy.pass(answer));
  });

  describe('is found out', () => {
    const altered: [title: string, change: (good: Answer) => Partial<Answer>, found: RegExp][] = [
      ['a status that is not listed', () => ({ status: 418 }), /"response".*status code/],
      ['a member of another type', () => body('{"name":1}'), /name must be string/],
      ['a member left out', () => body('{}'), /required property 'name'/],
      ['an error that is none', () => ({ status: 400 }), /required property 'error'/],
      ['no content type', (good) => without(good, 'content-type'), /media type/],
      ['a header left out', (good) => without(good, 'x-request-id'), /x-request-id/],
      ['no JSON', () => body('{'), /^null$/],
    ];
    for (const [title, change, found] of altered) {
      it(title, async () => {
        const good = await answerTo(service.port, create());
        const bad = { ...good, ...change(good) };
        const validated = await proxy.pass(bad);
        expect(() => expectPassed(bad, validated)).to.throw();
        expect(`${validated.violations}`).to.match(found);
      });
    }
  });
});

/** The cases that the operation answers with a body: not health checks and not pages. */
function described() {
  return suite.filter(({ expected }) => !expected.otherContent && !expected.toHead);
}

function settingsOf({ settings }: { readonly settings: Record<string, string> }): string {
  return JSON.stringify(settings);
}

/** Answers the cases whose tests were left out of this run. */
async function answerTheRest(): Promise<void> {
  const rest = described().filter(({ answer }) => answer === undefined);
  for (const settings of new Set(rest.map(settingsOf))) {
    const service = await startService(JSON.parse(settings));
    try {
      for (const one of rest) {
        if (settingsOf(one) === settings) one.answer = await answerTo(service.port, one.bytes);
      }
    } finally {
      await service.stop();
    }
  }
}

async function answerTo(port: number, bytes: Uint8Array): Promise<Answer> {
  const connection = await RawConnection.open(port);
  connection.send(bytes);
  return connection.answer().finally(() => connection.destroy());
}

/** Equal for answers that differ in nothing but the time and the id of the request. */
function contentOf({ status, fields, body }: Answer): string {
  const lasting = fields.filter(([name]) => name !== 'date' && name !== 'x-request-id');
  return JSON.stringify([status, lasting, body.toString()]);
}

function expectPassed(answer: Answer, { status, body, violations }: Validated): void {
  expect(violations, `${answer.head}\n\n${answer.body}`).to.equal(null);
  expect([status, body]).to.deep.equal([answer.status, answer.body.toString()]);
}

function body(text: string): Partial<Answer> {
  return { body: Buffer.from(text) };
}

function without({ fields }: Answer, left: string): Partial<Answer> {
  return { fields: fields.filter(([name]) => name !== left) };
}
