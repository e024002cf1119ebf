import { needsPostgresql, PostgresqlServer } from '@plant-store/test-servers/postgresql';

/** Declares a suite that needs a real server. Without one it is pending, and none of its hooks runs. */
export function describeOnPostgresql(title: string, define: (this: Mocha.Suite) => void): void {
  describe('On a real PostgreSQL,', () => {
    before(needsPostgresql);
    describe(title, define);
  });
}

/** Starts a server before the tests of a suite, and stops it afterwards. */
export function startServer(use: (server: PostgresqlServer) => unknown): void {
  let server: PostgresqlServer | undefined;

  before(async () => {
    server = await PostgresqlServer.start();
    await use(server);
  });

  after(() => server?.stop());
}
