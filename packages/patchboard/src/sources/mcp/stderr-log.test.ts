import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../test/support/fake-clock.ts';
import { stderrLog } from './stderr-log.ts';

type Fields = Readonly<Record<string, unknown>>;

function aLog(): { clock: FakeClock; logged: Fields[]; write: (text: string) => void } {
  const clock = new FakeClock();
  const logged: Fields[] = [];
  const note = (_: string, fields: Fields = {}): void => void logged.push(fields);
  const mask = (text: string): string => text.replaceAll('s3cret-value', '[redacted]');
  const write = stderrLog({ upstream: 'up', clock, mask, log: { info: note, warn: note, error: note } });
  return { clock, logged, write: (text) => write(Buffer.from(text)) };
}

describe('the stderr of a process', () => {
  it('is logged by lines, also if one comes in parts', () => {
    const { logged, write } = aLog();
    write('one\ntw');
    write('o s3cret-');
    write('value\r\n\n  \nend');
    expect(logged.map(({ line }) => line)).toEqual(['one', 'two [redacted]']);
  });

  it('is logged at a bounded rate, and the lines that are left out are counted', async () => {
    const { clock, logged, write } = aLog();
    write('x\n'.repeat(150));
    expect(logged).toHaveLength(100);
    await clock.advance(1_000);
    write('x\n'.repeat(30));
    expect(logged).toHaveLength(120);
    expect(logged[100]).toEqual({ upstream: 'up', line: 'x', dropped: 50 });
  });

  it('is cut where a line is long, without a part of a secret value', () => {
    const { logged, write } = aLog();
    write(`${'word '.repeat(101)}s3cret-value${' more'.repeat(4_000)}\n`);
    write(`${'y'.repeat(5_000)}\n`);
    expect(logged[0]?.['line']).not.toContain('s3cret');
    expect(String(logged[1]?.['line'])).toHaveLength(2_000);
  });
});
