import { join } from 'node:path';
import { createClient } from '@patchboard/client';
import type { MintedKeyView } from '@patchboard/wire';
import { afterEach, describe, expect, it } from 'vitest';
import { LONG, Workplace } from '../cli/cli-process.ts';

let place: Workplace;
let stop: () => Promise<void> = async () => undefined;

afterEach(async () => {
  await stop();
  await place.remove();
});

describe('patchboard device', { timeout: LONG }, () => {
  it('demo simulates a phone, and its camera requires approval', async () => {
    place = await Workplace.create();
    stop = await place.serve();
    const phone = place.start(['device', 'demo']);
    await phone.says(/lending device_info, camera, contacts, sensors as demo-phone/);
    const client = createClient({ url: place.environment['PATCHBOARD_URL']! });
    expect((await client.call('device_info')).result).toMatchObject({ demo: true, model: 'Demo phone' });
    expect((await client.call('contacts', { query: '李' })).result).toMatchObject({
      contacts: [{ name: '李雷' }],
    });
    expect((await client.call('sensors', { type: 'gps' })).result).toMatchObject({ demo: true, type: 'gps' });
    const receipt = await client.invoke('camera', { quality: 'low' });
    expect((await client.get(receipt.tool_call_id)).state).toBe('APPROVAL_REQUIRED');
    const approved = await place.run(['approve', receipt.tool_call_id]);
    expect(approved.code, approved.error).toBe(0);
    expect((await client.wait(receipt.tool_call_id)).result).toMatchObject({
      demo: true,
      quality: 'low',
      media_type: 'image/png',
    });
    expect(await phone.says(/camera/)).toContain('contacts {"query":"李"}');
    await phone.stop();
    const gone = await place.run(['call', 'device_info']);
    expect(gone.code).toBe(5);
  });

  it('exits if the key may not register tools, and says which may', async () => {
    place = await Workplace.create();
    stop = await place.serve();
    const minted = await place.json<MintedKeyView>(['keys', 'create', '--kind', 'agent', '--name', 'ada']);
    for (const [key, words] of [
      [minted.key, 'permission denied: the credential lacks the scope tools:serve'],
      ['pb_wrong', 'this is not a key of this server'],
    ] as const) {
      const { code, out, error } = await place.run(['device', 'demo'], { PATCHBOARD_KEY: key });
      expect({ code, out }).toEqual({ code: 3, out: '' });
      expect(error).toContain(`patchboard: ${words}`);
      expect(error).toContain('→ set PATCHBOARD_KEY to a key of kind client');
    }
  });

  it('run lends the tools of a file', async () => {
    place = await Workplace.create();
    stop = await place.serve();
    const file = await place.write(
      'tools.mjs',
      `export const tools = [
         { name: 'shop.greet', parameters: { type: 'object', required: ['name'] }, run: ({ name }) => 'hello ' + name },
         { name: 'bad name', run: () => 1 },
       ];`,
    );
    const shop = place.start([
      'device',
      'run',
      file,
      '--name',
      'shop',
      '--client-id',
      'shop-1',
      '--concurrency',
      '2',
      '--json',
    ]);
    await shop.says(/\{"lending":\["shop.greet"\],"name":"shop"\}/);
    const called = await place.run(['call', 'shop.greet', 'name=you']);
    expect(called.out.trim()).toBe('hello you');
    await shop.stop();
  });

  it.each([
    ['missing.mjs', null, 'cannot be loaded'],
    ['empty.mjs', 'export const nothing = 1;', 'exports no tools'],
    ['odd.mjs', 'export const tools = [{ name: "x" }];', 'tools[0] needs a name and a run function'],
  ])('run says what is wrong with %s', async (name, text, words) => {
    place = await Workplace.create();
    stop = async () => undefined;
    const file = text === null ? join(place.folder, name) : await place.write(name, text);
    const { code, error } = await place.run(['device', 'run', file]);
    expect(code).toBe(2);
    expect(error).toContain(words);
  });
});
