import { expect } from 'chai';
import { asking, creating, expectService, groups } from '../support/cases.js';
import { RawConnection } from '../support/raw-connection.js';
import { SERVED, UNSERVED } from '../support/requests.js';
import { useSharedService } from '../support/service.js';

const SETTINGS = { BASE_PATH: '/garden/v1', DOCS: 'off', MAX_CONNECTIONS: '3' };

describe('With BASE_PATH, DOCS=off and MAX_CONNECTIONS, the service', () => {
  const service = useSharedService(SETTINGS);

  it('closes a connection beyond MAX_CONNECTIONS without a response, until another is closed', async () => {
    const [first, ...others] = await Promise.all([openOne(), openOne(), openOne()]);
    for (const connection of [first, ...others]) await expectService(connection);
    expect((await (await openOne()).ending()).rest).to.equal('');
    await closed(first);
    const next = await openOne();
    await expectService(next);
    for (const connection of [...others, next]) await closed(connection);
  });

  const openOne = () => RawConnection.open(service().port);

  async function closed(connection: RawConnection): Promise<void> {
    connection.socket.end();
    await connection.ending();
  }

  const absolute = 'http://a.example/garden/v1/plants';
  const another = { method: UNSERVED, target: '/garden/v1/plants' };
  groups(service)(
    'serves its paths below BASE_PATH:',
    creating('creates below BASE_PATH', { target: '/garden/v1/plants?x' }),
    creating('creates below BASE_PATH with an absolute target', { target: absolute }),
    asking('refuses another method below BASE_PATH', another, { error: 4050, allow: SERVED }),
    ...['/livez', '/readyz'].map((target) =>
      asking(`serves ${target} outside BASE_PATH`, { target }, { otherContent: true }),
    ),
    ...'/plants /garden/v1 /garden/v1/plants/ /Garden/v1/plants /garden/v1/livez'
      .split(' ')
      .map((target) =>
        creating(`POST ${target} gets a 4040`, { target }, { error: 4040, toOperation: false }),
      ),
    ...['/openapi.json', '/openapi.yaml', '/docs', '/docs/docs.css'].map((target) =>
      asking(`GET ${target} gets a 4040 with DOCS=off`, { target }, 4040),
    ),
  );
});
