import { watch } from 'vue';
import { createI18n } from 'vue-i18n';
import { language, type Language } from '../preferences.ts';
import { withCounts } from './counts.ts';
import { en } from './en.ts';
import type { WordsOf } from './words-of.ts';
import { zh } from './zh.ts';

export const i18n = createI18n({
  legacy: false,
  locale: language.value,
  fallbackLocale: 'en',
  messages: { en, zh } satisfies Readonly<Record<Language, WordsOf<typeof en>>>,
});

const translate = i18n.global.t as (key: string, ...given: unknown[]) => string;
i18n.global.t = ((key: string, ...given: unknown[]) =>
  translate(key, ...withCounts(given, language.value))) as typeof i18n.global.t;

watch(language, (value) => (i18n.global.locale.value = value));
