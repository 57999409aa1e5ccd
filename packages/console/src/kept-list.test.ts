import { nextTick } from 'vue';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { keptList } from './kept-list.ts';

const KEY = 'patchboard.test';
const stored = new Map<string, string>();
let page: EventTarget;

beforeEach(() => {
  stored.clear();
  page = new EventTarget();
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => stored.set(key, value),
  });
  vi.stubGlobal('addEventListener', page.addEventListener.bind(page));
});
afterEach(() => {
  vi.unstubAllGlobals();
});

const aList = () => keptList<string>(KEY, (value) => typeof value === 'string');

it('keeps what another tab has added', async () => {
  const list = aList();
  stored.set(KEY, JSON.stringify(['theirs']));
  page.dispatchEvent(Object.assign(new Event('storage'), { key: KEY }));
  list.value = ['own', ...list.value];
  await nextTick();
  expect(JSON.parse(stored.get(KEY) ?? '')).toEqual(['own', 'theirs']);
});

it('reads the list again when the page returns from the back/forward cache', () => {
  const list = aList();
  stored.set(KEY, JSON.stringify(['theirs']));
  page.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: false }));
  expect(list.value).toEqual([]);
  page.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }));
  expect(list.value).toEqual(['theirs']);
});

it('is empty if the stored value is no list', () => {
  stored.set(KEY, '{');
  expect(aList().value).toEqual([]);
  stored.set(KEY, '{"a":1}');
  expect(aList().value).toEqual([]);
});
