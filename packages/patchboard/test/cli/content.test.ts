import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { content, imageBlock, resourceBlock } from '@patchboard/wire';
import { createPatchboard, tool, type Patchboard } from '../../src/index.ts';
import { LONG, Workplace } from './cli-process.ts';

const PIXELS = new Uint8Array([137, 80, 78, 71]);
let place: Workplace;
let board: Patchboard;

beforeAll(async () => {
  place = await Workplace.create();
  const shoot = tool('camera.shoot', () =>
    content([
      'a \u001b[31mscreen',
      imageBlock(PIXELS),
      resourceBlock('file:///../../a.txt', 'inside', 'text/plain'),
    ]),
  );
  board = await createPatchboard({ tools: [shoot] });
  const { url } = await board.listen({ port: 0 });
  place.environment = { ...place.environment, PATCHBOARD_URL: url };
}, LONG);

afterAll(async () => {
  await board.close();
  await place.remove();
}, LONG);

describe('a result with content at the command line', { timeout: LONG }, () => {
  it('is text that names pictures, and --save writes them', async () => {
    const folder = join(place.folder, 'saved');
    const { code, out, error } = await place.run(['call', 'camera.shoot', '--save', folder]);
    expect({ code, out }).toEqual({ code: 0, out: 'a \u001b[31mscreen\n[image/png, 4 B]\ninside\n' });
    const files = readdirSync(folder).toSorted();
    expect(files).toEqual([
      expect.stringMatching(/^tc_\w+-2\.png$/) as string,
      expect.stringMatching(/^tc_\w+-3\.txt$/) as string,
    ]);
    expect(readFileSync(join(folder, files[0]!))).toEqual(Buffer.from(PIXELS));
    expect(error).toContain(`saved ${join(folder, files[1]!)}`);
    const id = files[0]!.slice(0, -'-2.png'.length);
    const shown = await place.run(['calls', 'show', id]);
    expect(shown.out).toContain('result\na \\u001b[31mscreen\n[image/png, 4 B]\ninside\n');
  });

  it('refuses --save without a result to wait for', async () => {
    const { code, error } = await place.run(['call', 'camera.shoot', '--save', '.', '--no-wait']);
    expect(code).toBe(2);
    expect(error).toContain('--save needs the result: omit --no-wait');
  });
});
