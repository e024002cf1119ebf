import { type MochaContext, skipWithout } from '@plant-store/programs';
import { findProxy, type ProxyName } from './running-proxy.js';

/** For tests that need a proxy: when it is not installed they are pending; with `CI` set they fail. */
export function needsProxy(context: MochaContext, name: ProxyName): void {
  if (findProxy(name) === undefined) skipWithout(context, `no ${name}: see CONTRIBUTING.md`);
}
