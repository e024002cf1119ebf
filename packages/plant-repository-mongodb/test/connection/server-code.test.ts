import { expect } from 'chai';
import { credentialsRefused, ServerReplyError } from '../../src/connection/server-code.js';

describe("A server's error reply", () => {
  it('is shown as its code, and its name when there is one', () => {
    expect(new ServerReplyError(13, 'Unauthorized')).to.include({
      ...{ name: 'ServerReplyError', code: 13, codeName: 'Unauthorized' },
      message: 'the server reports error 13 (Unauthorized)',
    });
    expect(new ServerReplyError(13).message).to.equal('the server reports error 13');
    expect(new ServerReplyError(undefined).message).to.equal(
      'the server reports error without a code',
    );
  });

  it('refuses the credentials with these codes, also as the cause of another error', () => {
    for (const code of [11, 18, 334, 8000]) {
      const error = new ServerReplyError(code);
      expect(credentialsRefused(error), `${code}`).to.equal(true);
      expect(credentialsRefused(new Error('x', { cause: error })), `${code}`).to.equal(true);
    }
    for (const other of [new ServerReplyError(13), new Error('x'), 18, undefined]) {
      expect(credentialsRefused(other)).to.equal(false);
    }
  });
});
