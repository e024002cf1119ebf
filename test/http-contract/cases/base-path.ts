import { asking, creating, groups } from '../support/cases.js';
import { SERVED, UNSERVED } from '../support/requests.js';
import { useSharedService } from '../support/service.js';

const SETTINGS = { BASE_PATH: '/garden/v1', DOCS: 'off' };

describe('With BASE_PATH and DOCS=off, the service', () => {
  const service = useSharedService(SETTINGS);

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
