import { rejects } from 'node:assert/strict';
import { CertificateFolder } from '@plant-store/certificates';
import { until } from '@plant-store/contract-suite';
import { newPlant } from '@plant-store/domain';
import { postgresqlPlantRepository } from '@plant-store/plant-repository-postgresql';
import { needsPostgresql, PostgresqlServer } from '@plant-store/postgresql';
import { expect } from 'chai';

describe('A store on PostgreSQL with TLS', () => {
  before(needsPostgresql);
  describe('and a certificate of its own authority', describeTls);
});

/** Its hooks do not run where there is no server. */
function describeTls(this: Mocha.Suite): void {
  this.timeout(60_000);
  let server: PostgresqlServer;
  let certificates: CertificateFolder;

  before(async () => {
    certificates = await CertificateFolder.create();
    const addresses = ['127.0.0.1'];
    server = await PostgresqlServer.start();
    await server.createTable('plant_store');
    await server.useTls(await certificates.issue('server.pem', { subject: 'CN=x', addresses }));
  });

  after(() => server.stop());

  it('encrypts its connections when the authority is trusted', async () => {
    const uri = `${server.uri('plant_store')}?sslmode=verify-full&sslrootcert=${certificates.authority}`;
    const repository = postgresqlPlantRepository({ uri });
    await repository.add(newPlant({ id: 1n, name: 'Monstera' }), 10_000);
    expect(
      await server.rows(`SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
        WHERE usename = 'plant_store'`),
    ).to.deep.equal([{ ssl: true }]);
    await repository.close();
  });

  it('ends on the server what nobody waits for', async () => {
    const uri = `${server.uri('plant_store')}?sslmode=verify-full&sslrootcert=${certificates.authority}`;
    const repository = postgresqlPlantRepository({ uri });
    await repository.ready();
    await server.run('BEGIN; LOCK TABLE plant_store.plants');
    await rejects(repository.read({ limit: 1 }, 300), { code: 'STORAGE_UNAVAILABLE' });
    const waiting = 'SELECT 1 FROM pg_locks WHERE NOT granted';
    const hasEnded = async () => (await server.rows(waiting)).length === 0;
    await until(hasEnded, () => 'the server still waits for the lock');
    await server.run('ROLLBACK');
    await repository.close();
  });

  it('sends nothing to a server whose certificate is not trusted', async () => {
    const uri = `${server.uri('plant_store')}?sslmode=verify-full`;
    const repository = postgresqlPlantRepository({ uri });
    await rejects(repository.ready(), { code: 'STORAGE_UNAVAILABLE' });
    await rejects(repository.add(newPlant({ id: 2n, name: 'Monstera' }), 300.5), {
      code: 'STORAGE_UNAVAILABLE',
    });
    await repository.close();
  });
}
