/** Where the search looks: a shipped corpus, the visitor's own documents, or a site on the network. */
import { NativeSelect } from "@mantine/core";
import { CORPORA, type CorpusChoice } from "../../../src/worker/researchProtocol";
import { strings } from "../../strings";
import classes from "./CorpusPanel.module.css";
import { OwnDocuments } from "./OwnDocuments";
import { LanguageField, SiteConsent } from "./SiteConsent";
import type { RoomSearch } from "./search";

const text = strings.dualSystem.corpus;

interface CorpusPanelProps {
  search: RoomSearch;
  update: (change: Partial<RoomSearch>) => void;
  disabled: boolean;
}

export function CorpusPanel({ search, update, disabled }: CorpusPanelProps) {
  const { corpus } = search;
  return (
    <div className={classes.panel}>
      <NativeSelect
        label={text.label}
        size="xs"
        classNames={{ label: classes.label, description: classes.help }}
        inputWrapperOrder={["label", "input", "description"]}
        description={text.help[corpus]}
        data={CORPORA.map((value) => ({ value, label: text.names[value] }))}
        value={corpus}
        disabled={disabled}
        onChange={(event) =>
          update({ corpus: event.currentTarget.value as CorpusChoice, search: true, item: undefined, q: undefined })
        }
      />
      {corpus === "own" && <OwnDocuments search={search} update={update} disabled={disabled} />}
      {corpus === "wikipedia" && <LanguageField search={search} update={update} disabled={disabled} />}
      {(corpus === "wikipedia" || corpus === "openalex") && (
        <SiteConsent site={corpus} language={search.language} disabled={disabled} />
      )}
    </div>
  );
}
