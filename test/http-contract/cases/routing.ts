import { expect } from 'chai';
import { asking, creating, groups, responsesTo } from '../support/cases.js';
import { LIVEZ, MARK, request, SERVED, UNSERVED } from '../support/requests.js';
import { useSharedService } from '../support/service.js';

/** Methods of all kinds, of which the service serves some. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'];

const words = (...lines: string[]) => lines.join(' ').split(' ');

const NOT_FOUND = { error: 4040, toOperation: false } as const;
const BARE = { authorization: undefined, 'content-type': undefined };

describe('Paths and methods', () => {
  const service = useSharedService();
  const group = groups(service);

  group(
    'The path is compared byte by byte:',
    ...words(
      '/plants/1/2 / /plants/ /Plants /plants%20 /plants%3F /%70lants /%zz //plants //example/plants /./plants /x/../plants',
      '/plants;x=1 /plants\\ /\\plants /__proto__ /livez/ * http://a.example?/plants http://a.example/ http://a.example/%70lants',
    ).map((target) => creating(`POST ${target} gets a 4040`, { target }, NOT_FOUND)),
    ...words(
      '/plants#x /#/plants http:///plants http://[::1/plants http://256.0.0.1/plants http://user@a.example/plants ftp://a.example/plants',
    ).map((target) =>
      creating(`POST ${target} does not create`, { target }, { ...NOT_FOUND, error: [4000, 4040] }),
    ),
    ...words(
      '/plants?? /plants?/../x /plants?%zz /plants?__proto__[x]=1 /plants?#',
      'http://a.example:80/plants?x HTTP://A.EXAMPLE/plants https://a.example/plants',
    ).map((target) => creating(`POST ${target} creates`, { target })),
  );

  group(
    'A path that does not exist gets a 4040 for every method:',
    ...METHODS.map((method) => asking(method, { method, target: `/${MARK}` }, 4040)),
  );

  it('CONNECT closes the connection', async () => {
    const tunnel = request({ method: 'CONNECT', target: 'a.example:443' });
    expect(await responsesTo(service().port, tunnel, LIVEZ)).to.deep.equal([]);
  });

  const headers = { 'x-http-method-override': 'POST' };
  const refused = { error: 4050, allow: SERVED };
  const query = { method: UNSERVED, target: '/plants?_method=POST', headers: BARE };
  group(
    'Any other method on /plants gets a 4050:',
    ...METHODS.filter((it) => !SERVED.includes(it)).map((method) =>
      asking(method, { method, target: '/plants', headers }, refused),
    ),
    asking(`${UNSERVED} with a query, without credentials`, query, refused),
  );

  for (const target of ['/livez', '/readyz']) {
    const probe = { target: `${target}?x=1`, headers: { authorization: 'x', 'x-request-id': 'a' } };
    const bare = { target, headers: BARE };
    group(
      target,
      asking('responds to GET', bare, { otherContent: true, connection: 'keep-alive' }),
      asking('responds to HEAD', { ...bare, method: 'HEAD' }, { connection: 'keep-alive' }),
      asking('ignores the token and the query', probe, { otherContent: true, requestId: 'a' }),
      asking('responds to a GET that has a body', { target, body: '{}' }, { otherContent: true }),
      ...METHODS.slice(2).map((method) =>
        asking(`refuses ${method}`, { method, target }, { error: 4050, allow: ['GET', 'HEAD'] }),
      ),
    );
  }
});
