import { setImmediate } from 'node:timers/promises';
import { postgresqlUriProblem } from '@plant-store/plant-repository-postgresql';
import { expect } from 'chai';

const URI = 'postgresql://gardener:s3cret@db.example:5433/garden';

describe('A connection string of PostgreSQL', () => {
  for (const uri of [
    'postgresql://gardener:1234/garden',
    'postgresql://gardener:s3cret@db.example',
    'postgresql://gardener:s3cret@a,b/garden',
    'mysql://gardener:s3cret@db.example/garden',
  ]) {
    it(`is refused without its password: ${uri}`, () => {
      expect(postgresqlUriProblem(uri)).to.equal(
        'it must have a user, one host and a database, and other special characters percent-encoded',
      );
    });
  }

  it('may require TLS without a warning', async () => {
    const warnings: Error[] = [];
    const collect = (warning: Error) => warnings.push(warning);
    process.on('warning', collect);
    expect(postgresqlUriProblem(`${URI}?sslmode=require`)).to.equal(undefined);
    await setImmediate();
    process.off('warning', collect);
    expect(warnings).to.deep.equal([]);
  });

  it('is refused with the reason when a file cannot be read', () => {
    expect(postgresqlUriProblem(`${URI}?sslrootcert=/none`)).to.equal(
      "ENOENT: no such file or directory, open '/none'",
    );
    expect(postgresqlUriProblem(URI)).to.equal(undefined);
  });
});
