import { expect, it } from 'vitest';
import { clientSettings } from './environment.ts';
import { resolveSettings } from './settings.ts';

it('counts an empty PATCHBOARD_DATA as not set, as the commands do', () => {
  const { dataFolder } = resolveSettings({ PATCHBOARD_DATA: '' }, {});
  expect(dataFolder).toBe(clientSettings({ PATCHBOARD_DATA: '' }).dataFolder);
  expect(dataFolder).toBe(resolveSettings({}, {}).dataFolder);
});
