/** Where a checkpoint lies: the hub, an address, or files of this machine. */
import { Button, Loader, PasswordInput, SegmentedControl, TextInput } from "@mantine/core";
import { IconFolderOpen, IconListSearch } from "@tabler/icons-react";
import { useRef, useState } from "react";
import { parseAddress, parseHubId } from "../../../src/index";
import { SettingsGroup } from "../../components/SettingsGroup";
import { droppedFiles, type NamedFile } from "../../engine/droppedFiles";
import { cancelLibrary, openOrigin, useLibrary } from "../../stores/libraryStore";
import { strings } from "../../strings";
import classes from "./OpenForm.module.css";
import { DEFAULTS, publicAddress, publicId, type RoomSearch, SOURCES, type Source } from "./search";

const text = strings.models.open;

interface OpenFormProps {
  search: RoomSearch;
  update: (change: Partial<RoomSearch>) => void;
}

export function OpenForm({ search, update }: OpenFormProps) {
  const phase = useLibrary((state) => state.phase);
  const busy = phase !== "idle";
  return (
    <div className={classes.form}>
      <h2 className={classes.title}>{text.title}</h2>
      <SegmentedControl
        fullWidth
        size="xs"
        aria-label={text.source}
        data={SOURCES.map((value) => ({ value, label: text.sources[value] }))}
        value={search.source}
        disabled={busy}
        onChange={(value) => update({ source: value as Source })}
      />
      {search.source === "hub" && <HubFields search={search} update={update} busy={busy} />}
      {search.source === "url" && <UrlFields search={search} update={update} busy={busy} />}
      {search.source === "files" && <FolderFields busy={busy} />}
      {phase === "opening" && (
        <div className={classes.working} role="status">
          <Loader size="xs" />
          <span>{text.looking}</span>
          <Button size="compact-xs" variant="default" onClick={cancelLibrary}>
            {text.cancel}
          </Button>
        </div>
      )}
      <p className={classes.note}>
        {search.source === "files" ? text.folderHelp : text.privacy} {text.needs}
      </p>
    </div>
  );
}

interface FieldsProps extends OpenFormProps {
  busy: boolean;
}

const ORDER: ("label" | "input" | "description" | "error")[] = ["label", "input", "error", "description"];

function HubFields({ search, update, busy }: FieldsProps) {
  // Of this field only: neither the URL nor any store has it.
  const [token, setToken] = useState("");
  const id = useTyped(search.id, publicId, (own) => update({ id: own }));
  const revision = useTyped(
    search.revision,
    (own) => own.trim(),
    (own) => update({ revision: own }),
  );
  const host = useTyped(search.host, publicAddress, (own) => update({ host: own }));
  const [wrong, setWrong] = useState(false);
  const ownHost = parseAddress(host.typed);
  const isBadHost = host.typed.trim() !== "" && !ownHost;
  const hasSecret = ownHost?.query !== undefined || ownHost?.authorization !== undefined;
  const look = () => {
    const model = parseHubId(id.typed);
    setWrong(!model);
    if (!model || isBadHost || hasSecret) return;
    for (const field of [id, revision, host]) field.settle();
    const wanted = revision.typed.trim() || model.revision;
    const mirror = ownHost?.url ?? model.host;
    void openOrigin({
      kind: "hub",
      id: model.id,
      ...(wanted && { revision: wanted }),
      ...(token && { token }),
      ...(mirror && { host: mirror.replace(/\/+$/, "") }),
    });
  };
  return (
    <form
      className={classes.fields}
      onSubmit={(event) => {
        event.preventDefault();
        look();
      }}
    >
      <AddressField {...text.id} field={id} disabled={busy} error={wrong && text.badId} />
      <AddressField {...text.revision} placeholder="main" field={revision} disabled={busy} />
      <SettingsGroup
        title={text.more}
        changed={Number(token !== "") + Number(host.typed !== "")}
        disabled={busy}
        onReset={() => {
          setToken("");
          host.set("");
          update({ host: DEFAULTS.host });
        }}
      >
        <PasswordInput
          size="xs"
          label={text.token.label}
          description={text.token.help}
          inputWrapperOrder={ORDER}
          autoComplete="off"
          value={token}
          disabled={busy}
          onChange={(event) => setToken(event.currentTarget.value)}
        />
        <AddressField
          {...text.host}
          placeholder="https://huggingface.co"
          field={host}
          disabled={busy}
          error={isBadHost ? text.badUrl : hasSecret && text.secretHost}
        />
      </SettingsGroup>
      <Look disabled={busy || id.typed.trim() === ""} />
    </form>
  );
}

function UrlFields({ search, update, busy }: FieldsProps) {
  const field = useTyped(search.url, publicAddress, (url) => update({ url }));
  const [tried, setTried] = useState<string>();
  return (
    <form
      className={classes.fields}
      onSubmit={(event) => {
        event.preventDefault();
        setTried(field.typed);
        if (!parseAddress(field.typed)) return;
        field.settle();
        void openOrigin({ kind: "url", url: field.typed });
      }}
    >
      <AddressField
        {...text.url}
        field={field}
        disabled={busy}
        error={tried === field.typed && tried !== "" && !parseAddress(tried) && text.badUrl}
      />
      <Look disabled={busy || field.typed.trim() === ""} />
    </form>
  );
}

interface Typed {
  typed: string;
  set: (typed: string) => void;
  /** Called when the field is left or sent. */
  settle: () => void;
}

/**
 * What is typed stays in the field; the page's address gets what of it may stay once the field is left or sent. Half a
 * password can look like a port, so that nothing is passed on before.
 */
function useTyped(kept: string, publicPart: (typed: string) => string, keep: (own: string) => void): Typed {
  const [typed, set] = useState(kept);
  const [lastKept, setLastKept] = useState(kept);
  if (kept !== lastKept) {
    setLastKept(kept);
    // A link, or a change that was taken back; not what this field has passed on.
    if (kept !== publicPart(typed)) set(kept);
  }
  const settle = () => {
    const own = publicPart(typed);
    if (own !== kept) keep(own);
  };
  return { typed, set, settle };
}

interface AddressFieldProps {
  label: string;
  help: string;
  placeholder: string;
  field: Typed;
  disabled: boolean;
  error?: string | false;
}

/** A name or an address, which no browser corrects or completes. */
function AddressField({ label, help, placeholder, field, disabled, error }: AddressFieldProps) {
  return (
    <TextInput
      size="xs"
      label={label}
      description={help}
      placeholder={placeholder}
      inputWrapperOrder={ORDER}
      spellCheck={false}
      autoComplete="off"
      value={field.typed}
      disabled={disabled}
      error={error}
      onChange={(event) => field.set(event.currentTarget.value)}
      onBlur={field.settle}
    />
  );
}

function Look({ disabled }: { disabled: boolean }) {
  return (
    <Button type="submit" size="xs" disabled={disabled} leftSection={<IconListSearch size={14} />}>
      {text.look}
    </Button>
  );
}

function FolderFields({ busy }: { busy: boolean }) {
  const input = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);
  const open = (files: readonly NamedFile[]) => {
    if (busy) return;
    const [folder, rest] = files[0]?.name.split("/", 2) ?? [];
    const placed = files.map(({ name, file }) => ({ path: name, file }));
    void openOrigin({ kind: "files", name: rest === undefined || !folder ? text.looseFiles : folder, files: placed });
  };
  return (
    <section
      className={classes.drop}
      data-over={over}
      aria-label={text.dropLabel}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        void droppedFiles(event.dataTransfer).then(({ files }) => open(files));
      }}
    >
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label={text.choose}
        {...{ webkitdirectory: "" }}
        onChange={(event) => {
          // A folder that was chosen is meant, hidden or not.
          const files = [...(event.currentTarget.files ?? [])];
          event.currentTarget.value = "";
          open(files.map((file) => ({ name: file.webkitRelativePath || file.name, file })));
        }}
      />
      <Button
        size="xs"
        variant="default"
        disabled={busy}
        leftSection={<IconFolderOpen size={14} />}
        onClick={() => input.current?.click()}
      >
        {text.choose}
      </Button>
      <span className={classes.note}>{text.drop}</span>
    </section>
  );
}
