import { findProxy, type ProxyName } from './running-proxy.js';

interface MochaContext {
  skip(): never;
}

/** For tests that need a proxy: when it is not installed they are pending; with `CI` set they fail. */
export function needsProxy(context: MochaContext, name: ProxyName): void {
  if (findProxy(name) !== undefined) return;
  const lack = `no ${name}: see CONTRIBUTING.md`;
  if (process.env.CI) throw new Error(lack);
  process.stderr.write(`\n!!! THE CONFIGURATION OF A PROXY IS NOT TESTED: ${lack} !!!\n\n`);
  context.skip();
}
