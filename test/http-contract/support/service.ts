import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PERMISSIONS } from '@plant-store/domain';
import { ownProcesses, type Service, sha256 } from '@plant-store/test-servers/service-process';
import { expect } from 'chai';
import { temporaryFolder } from '../../support/root.js';
import { MARK, TOKEN, VISITOR_TOKEN } from './requests.js';

const { serve } = ownProcesses();

/** One token with every permission, and one with none. */
const TOKENS = [
  `${sha256(TOKEN)} gardener [${PERMISSIONS.join(', ')}]`,
  `${sha256(VISITOR_TOKEN)} visitor []`,
];

/** The origins whose pages may call a service with {@link OTHER_SETTINGS}. */
export const ORIGINS = ['https://nursery.example', 'http://localhost:5173'] as const;

/** Settings that do not affect each other, for one service. */
export const OTHER_SETTINGS = {
  CORS_ALLOWED_ORIGINS: ORIGINS.join(', '),
  LOG_LEVEL: 'debug',
  MAX_IN_FLIGHT: '1',
};

/** Starts the service as a process of its own. */
export function startService(settings: Record<string, string>): Promise<Service> {
  const file = join(temporaryFolder(), 'tokens.txt');
  writeFileSync(file, TOKENS.join('\n'));
  return serve({ ACCESS_TOKENS_FILE: file, ...settings });
}

const shared = new Map<string, Service>();

/** Starts one service for all `describe`s with these settings, before the first of them. Tests get it by a call. */
export function useSharedService(settings: Record<string, string> = {}): () => Service {
  const key = JSON.stringify(settings);
  before(async () => {
    if (!shared.has(key)) shared.set(key, await startService(settings));
  });
  return () => shared.get(key) ?? expect.fail('the service runs during tests only');
}

/** Stops all services. Checks that each ends with 0, and that its log is JSON, with neither tokens nor plants. */
export async function stopSharedServices(): Promise<void> {
  const services = [...shared.values()];
  shared.clear();
  const codes = await Promise.all(services.map((service) => service.stop()));
  expect(codes).to.deep.equal(services.map(() => 0));
  for (const { stdout, stderr } of services) {
    const lines = `${stdout()}${stderr()}`.split('\n').filter((it) => it !== '');
    // Koa's own error handler prints the stack trace of each connection that a client resets.
    expect(lines.filter((it) => !it.startsWith('{'))).to.deep.equal([]);
    expect(lines.filter((it) => it.includes(MARK))).to.deep.equal([]);
  }
}
