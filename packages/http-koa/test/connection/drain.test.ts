import { rejects } from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { createServer, type DrainableServer } from '@plant-store/http-koa';
import { expect } from 'chai';
import Koa from 'koa';

const TIME_LIMIT_MS = 54_321;
const TURNS = 20;

describe('Draining a server', () => {
  const real = { setTimeout, clearTimeout };
  /** The callbacks of the timer for the time limit; empty after the timer was cleared. */
  let atTimeLimit: Set<() => void>;
  let server: DrainableServer;
  let response: Promise<Response>;
  let respond: () => void;

  beforeEach(async () => {
    const app = new Koa();
    const arrived = new Promise<void>((resolve) => {
      const released = new Promise<void>((release) => {
        respond = release;
      });
      app.use(async (ctx) => {
        resolve();
        await released;
        ctx.body = 'late';
      });
    });
    server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    response = fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await arrived;
    watchTimeLimit();
  });

  afterEach(() => {
    Object.assign(globalThis, real);
    server.closeAllConnections();
  });

  function watchTimeLimit(): void {
    atTimeLimit = new Set();
    Object.assign(globalThis, {
      setTimeout: (act: () => void, ms: number) => {
        if (ms !== TIME_LIMIT_MS) return real.setTimeout(act, ms);
        atTimeLimit.add(act);
        return act;
      },
      clearTimeout: (timer: NodeJS.Timeout | (() => void) | undefined) => {
        if (typeof timer === 'function') atTimeLimit.delete(timer);
        else real.clearTimeout(timer);
      },
    });
  }

  it('ends after the last response, and leaves no timer', async () => {
    let drained = false;
    const draining = server.drain(TIME_LIMIT_MS).then(() => {
      drained = true;
    });
    for (let count = 0; count < TURNS; count += 1) await turn();
    expect(drained).to.equal(false);
    respond();
    expect(await (await response).text()).to.equal('late');
    await draining;
    expect(atTimeLimit).to.have.property('size', 0);
  });

  it('ends at the time limit, and cuts off open connections', async () => {
    const draining = server.drain(TIME_LIMIT_MS);
    const [cutOff] = atTimeLimit;
    cutOff?.();
    await Promise.all([rejects(response, TypeError), draining]);
  });
});
