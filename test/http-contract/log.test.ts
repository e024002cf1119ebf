import { expect } from 'chai';
import { exchange } from './support/cases.js';
import { create, lines, MARK, type Parts } from './support/requests.js';
import { startService } from './support/service.js';

describe('The log', () => {
  it('has the id of each request at level debug, and neither tokens nor plants', async () => {
    const service = await startService({ LOG_LEVEL: 'debug' });
    const requests: [id: string, parts: Parts, error?: number][] = [
      ['log-created', {}],
      ['log-not-a-plant', { body: `{"id":"${MARK}"}` }, 4005],
      ['log-not-json', { body: MARK }, 4004],
      ['log-unknown-token', { headers: { authorization: `Bearer ${MARK}` } }, 4011],
      [
        'log-broken-chunk',
        { headers: { 'transfer-encoding': 'chunked', 'content-length': undefined } },
        4000,
      ],
      ['log-unknown-path', { target: '/x' }, 4040],
    ];
    for (const [id, { headers, ...parts }, error] of requests) {
      const bytes = create({ ...parts, headers: { ...headers, 'x-request-id': id } });
      await exchange(service.port, bytes, { requestId: id, ...(error && { error }) });
    }
    const unparsed = await exchange(service.port, lines(MARK), 4000);
    const [, made = '?'] = /x-request-id: (\S+)/i.exec(unparsed.head) ?? [];
    expect(await service.stop()).to.equal(0);
    const output = service.stdout() + service.stderr();
    for (const id of [...requests.map(([it]) => it), made]) expect(output).to.include(id);
    expect(output).not.to.include(MARK);
  });
});
