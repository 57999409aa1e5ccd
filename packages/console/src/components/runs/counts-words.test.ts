import { createI18n } from 'vue-i18n';
import { expect, it } from 'vitest';
import { runsWords as english } from '../../words/en/runs.ts';
import { runsWords as chinese } from '../../words/zh/runs.ts';
import { countsParts, countsWords } from './counts-words.ts';

const { t, locale } = createI18n({
  legacy: false,
  locale: 'en',
  messages: { en: english, zh: chinese },
}).global;
const words = (language: 'en' | 'zh', total: number | null, open: number | null, running: number | null) => {
  locale.value = language;
  return countsWords({ total, open, running, failed: 0 }, t);
};

it('names the calls of a run, in the singular and the plural', () => {
  expect(words('en', 1, 0, 0)).toBe('1 call · 0 open · 0 failed');
  expect(words('en', 3, 2, 0)).toBe('3 calls · 2 open (0 running, 2 waiting) · 0 failed');
  expect(words('en', null, null, null)).toBe('– calls · – open · 0 failed');
  expect(words('zh', 1, 1, 1)).toBe('1 个调用 · 未结束 1（运行中 1，等待中 0）· 失败 0');
});

it('tells each count from what is between them', () => {
  locale.value = 'en';
  const parts = countsParts({ total: 3, open: null, running: null, failed: 1 }, t);
  expect(parts.filter(({ name }) => name !== null)).toEqual([
    { words: '3 calls', name: 'total', count: 3 },
    { words: '– open', name: 'open', count: null },
    { words: '1 failed', name: 'failed', count: 1 },
  ]);
});
