import { createRequire } from 'node:module';
import { findProgram } from './find-program.js';
import { type MochaContext, skipWithout } from './skip-without.js';
import { slowPackage } from './slow-package.js';

/** Options that stop Chromium's own requests to servers of Google. */
const QUIET = [
  ...['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync'],
  ...['--disable-background-networking', '--disable-component-update'],
];

const require = createRequire(import.meta.url);

/** Playwright's. Not typed, because it is installed only where slow tests run. */
export type Browser = ReturnType<typeof require>;

/**
 * Starts Chromium for the tests of a Mocha hook. When it is not installed the tests are pending; with `CI` set
 * they fail.
 */
export async function launchChromium(context: MochaContext): Promise<Browser> {
  const { chromium } = require(slowPackage(context, 'playwright-core'));
  const executablePath = findChromium();
  if (executablePath === undefined) {
    skipWithout(context, 'no Chromium: install the package `chromium`, or set CHROMIUM_PATH');
  }
  return chromium.launch({
    executablePath,
    args: process.getuid?.() === 0 ? [...QUIET, '--no-sandbox'] : QUIET,
  });
}

function findChromium(): string | undefined {
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  const installed = names.map((name) => findProgram(name)).find(Boolean);
  return process.env.CHROMIUM_PATH ?? installed;
}
