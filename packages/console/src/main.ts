import { VueQueryPlugin } from '@tanstack/vue-query';
import { createApp } from 'vue';
import 'element-plus/dist/index.css';
import 'element-plus/theme-chalk/dark/css-vars.css';
import './styles/tokens.css';
import './styles/base.css';
import './styles/parts.css';
import './styles/element.css';
import App from './App.vue';
import { holdsProof, signIn, takeLoginToken } from './data/connection.ts';
import { followServer, untilFollowing } from './data/live.ts';
import { loadSession } from './data/session.ts';
import { queryClient } from './data/query-client.ts';
import { loginOutcome } from './login.ts';
import { beginAgainForMissingParts } from './missing-parts.ts';
import { createConsoleRouter } from './router.ts';
import { i18n } from './words/index.ts';

async function start(): Promise<void> {
  const token = takeLoginToken();
  if (token !== null) {
    try {
      await signIn(token);
      loginOutcome.value = 'done';
    } catch {
      loginOutcome.value = 'refused';
    }
  }
  // Without a session, pages show how to sign in where the server refuses.
  if (holdsProof.value) await loadSession();
  const app = createApp(App);
  app.use(i18n);
  const router = createConsoleRouter();
  beginAgainForMissingParts(router);
  app.use(router);
  app.use(VueQueryPlugin, { queryClient });
  followServer();
  await Promise.all([router.isReady(), untilFollowing()]);
  app.mount('#app');
}

await start();
