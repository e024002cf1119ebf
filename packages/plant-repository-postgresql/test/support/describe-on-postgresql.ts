import { needsPostgresql } from '@plant-store/postgresql';

/** Declares a suite that needs a real server. Without one it is pending, and none of its hooks runs. */
export function describeOnPostgresql(title: string, define: (this: Mocha.Suite) => void): void {
  describe('On a real PostgreSQL', () => {
    before(needsPostgresql);
    describe(title, define);
  });
}
