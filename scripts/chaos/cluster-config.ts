/** The config file of each node behind the balancer `host`. */
export function clusterConfig(host: string): string {
  return [
    `http: { drain_delay_ms: 1000, allowed_hosts: ["${host}"] }`,
    // Calls that wait for input would make each restart wait for the whole drain. With fewer slots, a call that runs
    // again after a takeover would wait for one, and the time of the takeover could not be seen.
    'limits: { drain_ms: 2000, concurrency_server: 1000, concurrency_per_tenant: 1000, concurrency_per_run: 1000 }',
    'rates: { principal: null, tenant: null }',
    '',
  ].join('\n');
}
