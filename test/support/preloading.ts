/** The environment in which a process of Node runs this code, a module, in each of its threads before anything else. */
export const preloading = (code: string) => ({
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}`,
});
