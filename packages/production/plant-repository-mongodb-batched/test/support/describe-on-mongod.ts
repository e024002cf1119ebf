import { needsMongod } from '@plant-store/test-servers/mongod';

/** Declares a suite that needs a real server. Without one it is pending, and none of its hooks runs. */
export function describeOnMongod(title: string, define: (this: Mocha.Suite) => void): void {
  describe('plant-repository-mongodb-batched on a real mongod:', () => {
    before(needsMongod);
    describe(title, define);
  });
}
