import { ref, type Ref } from 'vue';

/** The time as the page shows it, once a second for all who show it. */
export const now: Ref<number> = ref(Date.now());

setInterval(() => (now.value = Date.now()), 1000);
