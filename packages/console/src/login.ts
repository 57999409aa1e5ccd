import { ref } from 'vue';

/** The result of the login link that opened this page. */
export const loginOutcome = ref<'none' | 'done' | 'refused'>('none');
