/** What a site gets to see, and the visitor's word on it. A link can ask for a site; only the visitor allows it. */
import { PasswordInput, Switch, TextInput } from "@mantine/core";
import { useEffect, useState } from "react";
import type { Site } from "../../../src/worker/researchProtocol";
import { allowSite, useDocuments } from "../../stores/documentsStore";
import { strings } from "../../strings";
import classes from "./CorpusPanel.module.css";
import type { RoomSearch } from "./search";

const text = strings.dualSystem.sites;

interface SiteConsentProps {
  site: Site;
  language: string;
  disabled: boolean;
}

export function SiteConsent({ site, language, disabled }: SiteConsentProps) {
  const allowed = useDocuments(({ sites }) => sites[site]);
  const key = useDocuments(({ openAlexKey }) => openAlexKey);
  return (
    <div className={classes.consent} data-allowed={allowed}>
      <p>{text.notices[site](language)}</p>
      <Switch
        size="xs"
        label={text.allow[site]}
        description={allowed ? text.allowed : text.forbidden}
        checked={allowed}
        // Forbidding must work in the middle of a run.
        disabled={disabled && !allowed}
        onChange={(event) => allowSite(site, event.currentTarget.checked)}
      />
      {site === "openalex" && (
        <PasswordInput
          mt={8}
          size="xs"
          label={text.key}
          description={text.keyHelp}
          inputWrapperOrder={["label", "input", "description"]}
          autoComplete="off"
          value={key}
          disabled={disabled}
          onChange={(event) => useDocuments.setState({ openAlexKey: event.currentTarget.value.trim() })}
        />
      )}
    </div>
  );
}

interface LanguageFieldProps {
  search: RoomSearch;
  update: (change: Partial<RoomSearch>) => void;
  disabled: boolean;
}

const LANGUAGE = /^[a-z]{2,12}(-[a-z]{2,12}){0,2}$/;

export function LanguageField({ search, update, disabled }: LanguageFieldProps) {
  const [draft, setDraft] = useState(search.language);
  useEffect(() => setDraft(search.language), [search.language]);
  return (
    <TextInput
      size="xs"
      label={text.language}
      description={text.languageHelp}
      classNames={{ root: classes.field, label: classes.fieldLabel, description: classes.fieldHelp }}
      inputWrapperOrder={["label", "input", "description"]}
      value={draft}
      disabled={disabled}
      error={!LANGUAGE.test(draft)}
      onChange={(event) => {
        const language = event.currentTarget.value.trim().toLowerCase();
        setDraft(language);
        if (LANGUAGE.test(language)) update({ language });
      }}
      onBlur={() => setDraft(search.language)}
    />
  );
}
