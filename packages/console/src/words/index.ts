import { watch } from 'vue';
import { createI18n } from 'vue-i18n';
import { language } from '../preferences.ts';
import { en } from './en.ts';
import { zh } from './zh.ts';

export const i18n = createI18n({
  legacy: false,
  locale: language.value,
  fallbackLocale: 'en',
  messages: { en, zh },
});

watch(language, (value) => (i18n.global.locale.value = value));
