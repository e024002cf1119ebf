import { expect } from 'chai';
import { MongoServerError } from 'mongodb';
import { Disclosure } from '../../src/connection/disclosure.js';
import { createMongoClient } from '../../src/connection/mongo-client.js';

function disclosureOf(uri: string): Disclosure {
  return new Disclosure(uri, createMongoClient(uri));
}

describe('Hosts that are shown', () => {
  const rows: Record<string, string> = {
    'mongodb://admin:1234': 'admin',
    'mongodb://admin:1234/garden?replicaSet=rs0': 'admin',
    'mongodb://jo.doe:1234/?appName=garden': 'jo.doe',
    'mongodb://admin:s3cret@mongo:1234': 'mongo:1234',
    'mongodb://mongo:27017': 'mongo:27017',
    'mongodb://mongo:27018': 'mongo:27018',
    'mongodb://mongo:27019': 'mongo:27019',
    'mongodb://mongo:27020': 'mongo',
    'mongodb://mongo': 'mongo:27017',
    'mongodb://localhost:1234': 'localhost:1234',
    'mongodb://127.0.0.1:1234,127.0.0.1:1235': '127.0.0.1:1234,127.0.0.1:1235',
    'mongodb://[::1]:1234': '[::1]:1234',
    'mongodb+srv://a:b@cluster.example.com': 'cluster.example.com',
  };
  for (const [uri, shown] of Object.entries(rows)) {
    it(`are ${shown} of ${uri}`, () => {
      expect(disclosureOf(uri).hosts.join()).to.equal(shown);
    });
  }
});

describe('An error that is shown', () => {
  it('does not contain what may be a password of digits', () => {
    const cause = Object.assign(new Error('connect ECONNREFUSED 10.0.0.5:1234'), { code: 'X' });
    const error = new Error('Connection pool for admin:1234 was cleared', { cause });
    const shown = disclosureOf('mongodb://admin:1234').error(error);
    expect(shown.message).to.equal('Connection pool for admin was cleared');
    expect(shown.cause).to.include({ message: 'connect ECONNREFUSED 10.0.0.5', code: 'X' });
  });

  it('is the error itself when nothing has to be hidden', () => {
    const error = new Error('connect ECONNREFUSED 10.0.0.5:1234');
    expect(disclosureOf('mongodb://10.0.0.5:1234').error(error)).to.equal(error);
  });

  it('has the code of a reply, but not its text', () => {
    const message = 'not authorized to execute command { insert: "plants", name: "rose" }';
    const error = new MongoServerError({ message, code: 13, codeName: 'Unauthorized' });
    const shown = disclosureOf('mongodb://localhost').error(error);
    expect(shown.message).to.equal('the server reports error 13 (Unauthorized)');
    expect(shown).to.include({ code: 13 });
  });
});
