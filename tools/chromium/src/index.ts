import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

/** Options that stop Chromium's own requests to servers of Google. */
const QUIET = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

interface MochaContext {
  skip(): never;
}

/**
 * Starts Chromium for the tests of a Mocha hook. When it is not installed the tests are pending; with `CI` set
 * they fail.
 */
export async function launchChromium(context: MochaContext): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) {
    const lack = 'no Chromium: install the package `chromium`, or set CHROMIUM_PATH';
    if (process.env.CI) throw new Error(lack);
    process.stderr.write(`\n!!! NOT TESTED IN A BROWSER: ${lack} !!!\n\n`);
    context.skip();
  }
  return chromium.launch({
    executablePath,
    args: process.getuid?.() === 0 ? [...QUIET, '--no-sandbox'] : QUIET,
  });
}

function findChromium(): string | undefined {
  const { CHROMIUM_PATH, PATH = '' } = process.env;
  if (CHROMIUM_PATH !== undefined) return CHROMIUM_PATH;
  const candidates = PATH.split(delimiter).flatMap((directory) =>
    ['chromium', 'chromium-browser', 'google-chrome'].map((name) => join(directory, name)),
  );
  return candidates.find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
