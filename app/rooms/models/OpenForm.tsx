/** Where a checkpoint lies: the hub, an address, or files of this machine. */
import { Button, Loader, PasswordInput, SegmentedControl, TextInput } from "@mantine/core";
import { IconFolderOpen, IconListSearch } from "@tabler/icons-react";
import { useRef, useState } from "react";
import { parseHubId } from "../../../src/index";
import { SettingsGroup } from "../../components/SettingsGroup";
import { droppedFiles, type NamedFile } from "../../engine/droppedFiles";
import { cancelLibrary, openOrigin, useLibrary } from "../../stores/libraryStore";
import { strings } from "../../strings";
import classes from "./OpenForm.module.css";
import { addressOf, DEFAULTS, type RoomSearch, SOURCES, type Source } from "./search";

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
  const { id, revision, host } = search;
  // Of this field only: neither the URL nor any store has it.
  const [token, setToken] = useState("");
  const [wrong, setWrong] = useState(false);
  const look = () => {
    const model = parseHubId(id);
    const ownHost = host === "" ? undefined : addressOf(host);
    setWrong(!model);
    if (!model || (host !== "" && !ownHost)) return;
    const wanted = revision || model.revision;
    void openOrigin({
      kind: "hub",
      id: model.id,
      ...(wanted && { revision: wanted }),
      ...(token && { token }),
      ...(ownHost && { host: ownHost.replace(/\/$/, "") }),
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
      <AddressField
        {...text.id}
        value={id}
        disabled={busy}
        error={wrong && text.badId}
        onChange={(own) => update({ id: own })}
      />
      <AddressField
        {...text.revision}
        placeholder="main"
        value={revision}
        disabled={busy}
        onChange={(own) => update({ revision: own })}
      />
      <SettingsGroup
        title={text.more}
        changed={Number(token !== "") + Number(host !== "")}
        disabled={busy}
        onReset={() => {
          setToken("");
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
          value={host}
          disabled={busy}
          error={host !== "" && !addressOf(host) && text.badUrl}
          onChange={(own) => update({ host: own })}
        />
      </SettingsGroup>
      <Look disabled={busy || id.trim() === ""} />
    </form>
  );
}

function UrlFields({ search, update, busy }: FieldsProps) {
  const address = addressOf(search.url);
  const [tried, setTried] = useState(false);
  return (
    <form
      className={classes.fields}
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        // Only a folder has files below it.
        const isFile = address?.endsWith("/") || address?.endsWith(".onnx");
        if (address) void openOrigin({ kind: "url", url: isFile ? address : `${address}/` });
      }}
    >
      <AddressField
        {...text.url}
        value={search.url}
        disabled={busy}
        error={tried && search.url !== "" && !address && text.badUrl}
        onChange={(url) => {
          setTried(false);
          update({ url });
        }}
      />
      <Look disabled={busy || search.url.trim() === ""} />
    </form>
  );
}

interface AddressFieldProps {
  label: string;
  help: string;
  placeholder: string;
  value: string;
  disabled: boolean;
  error?: string | false;
  onChange: (value: string) => void;
}

/** A name or an address, which no browser corrects or completes. */
function AddressField({ label, help, placeholder, value, disabled, error, onChange }: AddressFieldProps) {
  return (
    <TextInput
      size="xs"
      label={label}
      description={help}
      placeholder={placeholder}
      inputWrapperOrder={ORDER}
      spellCheck={false}
      autoComplete="off"
      value={value}
      disabled={disabled}
      error={error}
      onChange={(event) => onChange(event.currentTarget.value)}
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
