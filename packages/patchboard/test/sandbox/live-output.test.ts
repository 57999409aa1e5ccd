import { describe, expect, it } from 'vitest';
import { forAllTests } from './support/for-all-tests.ts';

/** 中 is three bytes in UTF-8: the command writes the last one when the file is there. */
const halved = (file: string): string =>
  `printf 'a\\344\\270'; echo half >&2; while [ ! -e ${file} ]; do sleep 0.01; done; printf '\\255'`;

describe('output that ends within a character', () => {
  const { sandbox } = forAllTests();

  it('arrives with the rest of it', async () => {
    const texts: string[] = [];
    const { stdout } = await sandbox().exec(halved('live'), {
      onOutput: (stream, text) => {
        if (stream === 'stdout') texts.push(text);
        else
          sandbox()
            .writeFile('live', '')
            .catch(() => {});
      },
    });
    expect(texts.join('')).toBe('a中');
    expect(stdout).toBe('a中');
  });

  it('is read of a job with the rest of it', async () => {
    const job = await sandbox().execBackground(halved('job').replace('echo half >&2;', ''));
    const begun = await sandbox().logs(job, { follow: true });
    expect(begun).toMatchObject({ output: 'a', nextOffset: 1 });
    await sandbox().writeFile('job', '');
    const rest = async (): Promise<string | undefined> => (await sandbox().logs(job, { offset: 1 }))?.output;
    await expect.poll(rest).toBe('中');
  });
});
