import { useState } from "preact/hooks";
import { Command } from "./parts/messages.tsx";
import { signIn } from "./session.ts";

/** Shown once the service has refused a request that had no valid key. */
export function SignIn({ why }: { readonly why: string }) {
  const [typed, setTyped] = useState("");
  const submit = (event: Event): void => {
    event.preventDefault();
    if (typed.trim() !== "") signIn(typed.trim());
  };
  return (
    <main id="content" class="alone" tabIndex={-1}>
      <h1>Waybill</h1>
      <p>{why}</p>
      <form onSubmit={submit}>
        <label class="field">
          API key
          <input
            type="password"
            autocomplete="off"
            spellcheck={false}
            required
            placeholder="wb_…"
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        </label>
        <p class="quiet">The browser keeps the key in this tab only, until you close it or sign out.</p>
        <div class="buttons">
          <button type="submit" class="primary">
            Sign in
          </button>
        </div>
      </form>
      <p>An operator creates keys:</p>
      <Command text="waybill keys create --tenant default" />
    </main>
  );
}
