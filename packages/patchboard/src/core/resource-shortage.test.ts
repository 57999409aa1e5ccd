import { expect, it } from 'vitest';
import { shortageFailure } from './resource-shortage.ts';

it.each(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN'])('%s is a failure that may pass', (code) => {
  const problem = shortageFailure(Object.assign(new Error(`spawn ${code}`), { code }), 'command');
  expect(problem).toMatchObject({ code: 'overloaded', retryable: true });
  expect(problem?.message).toMatch(new RegExp(`^the command could not be started: .*\\(${code}\\)$`));
});

it.each([new Error('other'), Object.assign(new Error('spawn'), { code: 'ENOENT' }), null, 'EMFILE'])(
  '%s is none',
  (error) => {
    expect(shortageFailure(error, 'command')).toBeNull();
  },
);
