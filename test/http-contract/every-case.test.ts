// The cases are in one file for Mocha, because they share services.
import './cases/base-path.js';
import './cases/body.js';
import './cases/connections.js';
import './cases/cors.js';
import './cases/header-fields.js';
import './cases/http-syntax.js';
import './cases/limits.js';
import './cases/order-of-checks.js';
import './cases/routing.js';
import './cases/upgrade.js';
import { expect } from 'chai';
import { exchange } from './support/cases.js';
import { expectDescribed } from './support/described-response.js';
import type { ReceivedResponse } from './support/raw-connection.js';
import { create } from './support/requests.js';
import { stopSharedServices, useSharedService } from './support/service.js';

after(stopSharedServices);

describe('The OpenAPI description', () => {
  const service = useSharedService();

  it('matches no response that differs from those it lists', async () => {
    const good = await exchange(service().port, create());
    expectDescribed(good);
    const altered: [Partial<ReceivedResponse>, found: RegExp][] = [
      [{ status: 418 }, /418 is not described/],
      [{ fields: [] }, /X-Request-Id: data must be string/],
      [{ body: Buffer.from('{"name":1}') }, /name must be string/],
    ];
    for (const [change, found] of altered) {
      expect(() => expectDescribed({ ...good, ...change })).to.throw(found);
    }
  });
});
