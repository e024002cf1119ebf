// Updates docs/docs-page.png, the screenshot of the docs page after a plant was created.
import { fileURLToPath } from 'node:url';
import { launchChromium } from '@plant-store/chromium';
import { ACCESS_TOKEN_SHA256, serve, TOKEN } from '@plant-store/service-process';

const path = fileURLToPath(new URL('../docs/docs-page.png', import.meta.url));
const browser = await launchChromium({ skip: () => process.exit(1) });
const service = await serve({ ACCESS_TOKEN_SHA256 });
const page = await browser.newPage({
  viewport: { width: 960, height: 900 },
  colorScheme: 'light',
});
await page.goto(`${service.address}/docs`);
await page.getByLabel('Access token').fill(TOKEN);
await page.locator('.btn.execute').click();
const response = page.locator('.live-responses-table .highlight-code');
await response.waitFor();
await page.evaluate(() => {
  document.activeElement?.blur();
  scrollTo(0, 0);
});
const { y, height } = await response.boundingBox();
await page.setViewportSize({ width: 960, height: Math.ceil(y + height) + 16 });
await page.screenshot({ path, animations: 'disabled' });
await browser.close();
await service.stop();
