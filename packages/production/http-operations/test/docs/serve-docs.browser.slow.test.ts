import { plantStoreRoutes } from '@plant-store/http-operations';
import { type Browser, launchChromium } from '@plant-store/test-servers/programs';
import { expect } from 'chai';
import Koa from 'koa';
import mount from 'koa-mount';
import { Embedding, TOKEN } from '../support/embedding.js';

const PLANT = '{"id": 2, "name": "Bellis"}';

type Page = Browser;

/** Returns the part of the docs page about creating a plant. */
const createPlant = (page: Page) => page.locator('[id$="-createPlant"]');

describe('The docs page in Chromium', function () {
  this.timeout(60_000);

  const embedding = new Embedding();
  const { plants } = embedding;
  let origin: string;
  let browser: Browser;
  let page: Page;
  const requested: URL[] = [];
  const complaints: string[] = [];

  before(async function () {
    browser = await launchChromium(this);
    origin = (
      await embedding.start({ basePath: '/store', publicUrl: 'https://plants.example.com' })
    ).url;
    // All tests share the page, in this order, because loading it is slow.
    page = await (await browser.newContext()).newPage();
    page.setDefaultTimeout(15_000);
    page.on('request', (request: { url(): string }) => requested.push(new URL(request.url())));
    page.on('pageerror', ({ message }: Error) => complaints.push(message));
    page.on('console', (message: { type(): string; text(): string }) => {
      if (/error|warning/.test(message.type())) complaints.push(message.text());
    });
    await page.goto(`${origin}/docs`);
  });

  after(async () => {
    await browser?.close();
    await embedding.close();
  });

  beforeEach(() => plants.clear());

  async function execute(body?: string): Promise<string> {
    const operation = createPlant(page);
    if (body !== undefined) await operation.locator('textarea.body-param__text').fill(body);
    const response = page.waitForResponse(`${origin}/store/plants`);
    await operation.locator('.btn.execute').click();
    const hasText = `${(await response).status()}`;
    return operation.locator('.live-responses-table .response-col_status', { hasText }).innerText();
  }

  it('shows an error with its number', async () => {
    expect(await execute()).to.equal('401');
    expect(await createPlant(page).locator('.live-responses-table').innerText()).to.include('4010');
    expect(`${complaints.splice(0)}`).to.include('401');
  });

  it('sends the example with the entered token and a new id for each visitor', async () => {
    await page.getByLabel('Access token', { exact: true }).fill(TOKEN);
    const shown = await createPlant(page).locator('textarea.body-param__text').inputValue();
    const sent = page.waitForRequest(`${origin}/store/plants`);
    expect(await execute()).to.equal('200');
    expect((await sent).postData()).to.equal(shown);
    const { id, ...rest } = JSON.parse(shown);
    expect(rest).to.deep.equal({ name: 'Monstera deliciosa', tag: 'tropical' });
    expect([...plants.values()]).to.deep.equal([{ id: BigInt(id), ...rest }]);
    const ofAnother = await describedToAnother();
    expect(ofAnother).to.include('Monstera deliciosa').and.not.to.include(`${id}`);
  });

  /** Resolves with the description that the page gets for another visitor, without Swagger UI, which is slow. */
  async function describedToAnother(): Promise<string> {
    const other = await page.context().newPage();
    const body =
      'globalThis.SwaggerUIBundle = ({ spec }) => { document.title = JSON.stringify(spec) }';
    await other.route('**/swagger-ui-bundle.js', (route: { fulfill(response: object): void }) =>
      route.fulfill({ contentType: 'text/javascript', body }),
    );
    await other.goto(`${origin}/docs`);
    await other.waitForFunction(() => document.title.startsWith('{'));
    const described = await other.title();
    await other.close();
    return described;
  }

  it('sends an id exactly as entered, even if JavaScript would round it', async () => {
    expect(await execute('{"id": 9007199254740993, "name": "Ficus"}')).to.equal('200');
    expect([...plants.keys()]).to.deep.equal([9007199254740993n]);
  });

  it('hides the token in the curl command and in its field', async () => {
    expect(await createPlant(page).locator('.curl-command').innerText()).to.include(
      'Authorization: Bearer •',
    );
    expect(await page.locator('body').innerText()).not.to.include(TOKEN);
  });

  it('moves keyboard focus from Execute to each response', async () => {
    const operation = createPlant(page);
    for (const status of [400, 200]) {
      await operation.locator('textarea.body-param__text').fill(status === 200 ? PLANT : '{');
      await operation.locator('.btn.execute').focus();
      const response = page.waitForResponse(`${origin}/store/plants`);
      await page.keyboard.press('Enter');
      expect((await response).status()).to.equal(status);
      await operation.locator('.live-responses-table:focus').waitFor();
    }
    complaints.splice(0);
  });

  it('names every field, and skips no level of headings, for a screen reader', async () => {
    const tree = await page.locator('body').ariaSnapshot();
    expect(tree).to.include('textbox "Request body"').and.include('combobox "Example"');
    expect(tree).not.to.match(/(?:combobox|textbox)(?::|$)/m);
    for (const [title, level] of [
      ['h4', '2'],
      ['h5', '3'],
    ] as const) {
      const all = await page.locator(title).count();
      expect(await page.locator(`${title}[aria-level="${level}"]`).count(), title).to.equal(all);
    }
  });

  const prefixed = { '/garden/docs': '', '/garden/docs/': '/store' };
  for (const [path, basePath] of Object.entries(prefixed)) {
    it(`creates a plant below a prefix that a proxy strips: ${path}`, async () => {
      const routes = plantStoreRoutes(embedding.dependencies, { basePath });
      const below = await embedding.serve(new Koa().use(mount('/garden', routes)));
      const opened = await page.context().newPage();
      const missing: string[] = [];
      opened.on('response', (it: { ok(): boolean; url(): string }) => {
        if (!it.ok()) missing.push(it.url());
      });
      await opened.goto(`${below}${path}`);
      await opened.getByLabel('Access token', { exact: true }).fill(TOKEN);
      const execute = createPlant(opened).locator('.btn.execute');
      await execute.waitFor();
      const response = opened.waitForResponse(`${below}/garden${basePath}/plants`);
      await execute.click();
      expect((await response).status()).to.equal(200);
      expect(missing).to.deep.equal([]);
      await opened.close();
    });
  }

  it('sends no requests to other origins, and respects its Content-Security-Policy', () => {
    expect(requested.length).to.be.above(5);
    const elsewhere = requested.filter((url) => url.origin !== origin && url.protocol !== 'data:');
    expect(elsewhere).to.deep.equal([]);
    expect(complaints).to.deep.equal([]);
  });
});
