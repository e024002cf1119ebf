import { launchChromium } from '@plant-store/chromium';
import type { NewPlant } from '@plant-store/domain';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { failureGuide } from '../../src/docs/failure-guide.js';
import { listeningApp, TOKEN } from '../listening-app.js';

describe('the docs page in Chromium', function () {
  this.timeout(60_000);

  const plants = new Map<bigint, NewPlant>();
  let app: Awaited<ReturnType<typeof listeningApp>> | undefined;
  let origin: string;
  let browser: Browser;
  let page: Page;
  let authorized = false;
  const requested: URL[] = [];
  const complaints: string[] = [];

  before(async function () {
    browser = await launchChromium(this);
    app = await listeningApp({}, plants);
    origin = app.origin;
    await open();
  });

  after(async () => {
    await browser?.close();
    await app?.close();
  });

  beforeEach(() => plants.clear());

  /** One page for all tests: what takes its time is the loading. */
  async function open(): Promise<void> {
    page = await browser.newPage();
    page.setDefaultTimeout(15_000);
    page.on('request', (request) => requested.push(new URL(request.url())));
    page.on('pageerror', ({ message }) => complaints.push(message));
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') {
        complaints.push(message.text());
      }
    });
    await page.goto(`${origin}/docs`);
  }

  async function authorize(): Promise<void> {
    if (authorized) return;
    authorized = true;
    await page.locator('.scheme-container .authorize').click();
    await page.locator('.auth-container input').fill(TOKEN);
    await page.locator('.auth-btn-wrapper .authorize').click();
    await page.locator('.auth-btn-wrapper .btn-done').click();
  }

  async function execute(body?: string): Promise<string> {
    if (body !== undefined) await page.locator('textarea.body-param__text').fill(body);
    const answer = page.waitForResponse(`${origin}/plants`);
    await page.locator('.btn.execute').click();
    const hasText = `${(await answer).status()}`;
    return page.locator('.live-responses-table .response-col_status', { hasText }).innerText();
  }

  it('shows a refusal with its number', async () => {
    expect(await execute()).to.equal('401');
    expect(await page.locator('.live-responses-table').innerText()).to.include('4010');
    expect(`${complaints.splice(0)}`).to.include('401');
  });

  it('takes a token, creates the plant it proposes, and shows the 200', async () => {
    await authorize();
    expect(await execute()).to.equal('200');
    expect([...plants.values()]).to.deep.equal([
      { id: 1n, name: 'Monstera deliciosa', tag: 'tropical' },
    ]);
  });

  it('sends an id that JavaScript would round as it was typed', async () => {
    await authorize();
    expect(await execute('{"id": 9007199254740993, "name": "Ficus"}')).to.equal('200');
    expect([...plants.keys()]).to.deep.equal([9007199254740993n]);
  });

  it('asks no other origin for anything, and does nothing that its security policy forbids', async () => {
    await authorize();
    expect(await execute()).to.equal('200');
    await page.setViewportSize({ width: 390, height: 844 });
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(requested.length).to.be.above(5);
    const elsewhere = requested.filter((url) => url.origin !== origin && url.protocol !== 'data:');
    expect(elsewhere).to.deep.equal([]);
    expect(complaints).to.deep.equal([]);
  });

  it('leads to the table of errors', async () => {
    await page.getByRole('link', { name: 'what it means' }).click();
    await page.waitForURL(`${origin}/docs/errors`);
    expect(await page.locator('tbody tr').count()).to.equal(Object.keys(failureGuide).length);
    expect(complaints).to.deep.equal([]);
  });
});
